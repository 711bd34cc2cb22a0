import type { Clock } from '@svc/runtime';

export interface ExpiringCache<Value> {
  /** The value, loaded at most `ttlMs` ago. Throws what loading throws, which is not kept. */
  get(key: string): Promise<Value>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly loadedAtMs: number;
}

/**
 * Keeps what was loaded for a bounded time and in a bounded number; callers that come while a
 * value is being loaded share one load. Age is counted from the start of the load, so that what
 * is returned was true at most `ttlMs` ago. Values that are absent are kept apart, in a number of
 * their own.
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
  /** As many as there are callers waiting, at most. */
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
    async get(key) {
      const nowMs = clock.monotonicMs();
      const found = loading.get(key) ?? present.get(key) ?? absent.get(key);
      const isFresh = found !== undefined && nowMs - found.loadedAtMs < ttlMs;
      return await (isFresh ? found : loadEntry(key, nowMs)).value;
    },
  };
}

/** The map stays in the order of loading, so that the oldest goes first. */
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
