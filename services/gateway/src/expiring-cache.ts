import type { Clock } from '@svc/runtime';

export interface ExpiringCache<Value> {
  /**
   * Returns a value loaded at most `ageMsMax` ago; without it, at most `ttlMs` ago. With 0 it is loaded
   * now. Throws the error of a failed load, uncached.
   */
  get(key: string, ageMsMax?: number): Promise<Value>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly loadedAtMs: number;
}

/**
 * Caches loaded values, at most `entriesMax` of them, and removes the least recently used first. A
 * caller that does not say how old its value may be gets one of at most `ttlMs`. Callers that ask
 * while a value is loading share that load. Age counts from the start of the load, so every returned
 * value was true at most that long ago. Absent values are cached separately, at most `absentMax` and
 * for at most `ttlMs`, so that they never evict present ones.
 */
export function createExpiringCache<Value>({
  load,
  ttlMs,
  entriesMax,
  isAbsent = () => false,
  absentMax = 0,
  clock,
}: {
  readonly load: (key: string) => Promise<Value>;
  readonly ttlMs: number;
  readonly entriesMax: number;
  readonly isAbsent?: (value: Value) => boolean;
  readonly absentMax?: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): ExpiringCache<Value> {
  const present = new Map<string, Entry<Value>>();
  const absent = new Map<string, Entry<Value>>();
  /** Has at most one entry for each waiting caller. */
  const loading = new Map<string, Entry<Value>>();

  function loadEntry(key: string, nowMs: number): Entry<Value> {
    const entry = { value: loadValue(key, nowMs), loadedAtMs: nowMs };
    loading.set(key, entry);
    return entry;
  }

  async function loadValue(key: string, nowMs: number): Promise<Value> {
    try {
      const value = await load(key);
      present.delete(key);
      absent.delete(key);
      const kept = { value: Promise.resolve(value), loadedAtMs: nowMs };
      if (isAbsent(value)) keep(absent, absentMax, key, kept);
      else keep(present, entriesMax, key, kept);
      return value;
    } finally {
      loading.delete(key);
    }
  }

  return {
    async get(key, ageMsMax = ttlMs) {
      const nowMs = clock.monotonicMs();
      const isFresh = (entry: Entry<Value> | undefined, ageMs: number): entry is Entry<Value> =>
        entry !== undefined && nowMs - entry.loadedAtMs < ageMs;
      const found = present.get(key);
      if (isFresh(found, ageMsMax)) {
        present.delete(key);
        present.set(key, found);
        return await found.value;
      }
      const other = loading.get(key) ?? absent.get(key);
      const isUsable = isFresh(other, Math.min(ageMsMax, ttlMs));
      return await (isUsable ? other : loadEntry(key, nowMs)).value;
    },
  };
}

/** The map stays in the order of use, so its first entry is the least recently used one. */
function keep<Kept>(
  entries: Map<string, Kept>,
  entriesMax: number,
  key: string,
  entry: Kept,
): void {
  entries.set(key, entry);
  if (entries.size <= entriesMax) return;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
