import type { Clock } from '@svc/runtime';

export interface ExpiringCache<Value> {
  /**
   * Returns the value of `key`, loaded less than `ageMsMax` ago (default `ttlMs`). If `ageMsMax` is
   * 0, the value is loaded for this call. An absent value is never older than `ttlMs`. If a load
   * fails, throws its error and caches nothing.
   */
  get(key: string, ageMsMax?: number): Promise<Value>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly loadedAtMs: number;
}

/**
 * Caches loaded values. The age of a value counts from the start of its load. Callers share a load
 * in flight if it began recently enough for their `ageMsMax`.
 *
 * A value is absent if `isAbsent` returns true for it (default: never). At most `entriesMax`
 * present values are kept, and the least recently used one is removed first. Absent values have a
 * separate cache, so they cannot evict present ones. At most `absentMax` absent values are kept,
 * and the one that was loaded first is removed first.
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
  /** This map needs no limit, because each entry belongs to a waiting caller. */
  const loading = new Map<string, Entry<Value>>();

  function loadEntry(key: string, nowMs: number): Entry<Value> {
    const entry = { value: loadValue(key, nowMs), loadedAtMs: nowMs };
    loading.set(key, entry);
    return entry;
  }

  async function loadValue(key: string, nowMs: number): Promise<Value> {
    try {
      const value = await load(key);
      keepNewest(key, value, nowMs);
      return value;
    } finally {
      if (loading.get(key)?.loadedAtMs === nowMs) loading.delete(key);
    }
  }

  /** Keeps the value, unless the cache has one for this key whose load began later. */
  function keepNewest(key: string, value: Value, loadedAtMs: number): void {
    const known = present.get(key) ?? absent.get(key);
    if (known !== undefined && known.loadedAtMs > loadedAtMs) return;
    present.delete(key);
    absent.delete(key);
    const kept = { value: Promise.resolve(value), loadedAtMs };
    if (isAbsent(value)) keep(absent, absentMax, key, kept);
    else keep(present, entriesMax, key, kept);
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

/**
 * Adds an entry. If the map then has more than `entriesMax` entries, drops the first one. The first
 * entry of `present` is the least recently used one, because `get` moves an entry to the end.
 */
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
