import type { Clock } from '@svc/runtime';

export interface ExpiringCache<Value> {
  /**
   * Returns the value of `key`, loaded less than `ageMsMax` ago (default `ttlMs`). If a load fails,
   * throws its error.
   */
  get(key: string, ageMsMax?: number): Promise<Value>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly loadedAtMs: number;
}

/**
 * Caches loaded values, and lets callers share a load in flight. The age of a value counts from the
 * start of its load.
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
  /**
   * The default of `ageMsMax`. It also limits the age of "not found" (`isAbsent`) and of a load in
   * flight, even if `ageMsMax` is higher.
   */
  readonly ttlMs: number;
  /**
   * The maximum number of values other than "not found" (`isAbsent`). The least recently used value
   * is removed first.
   */
  readonly entriesMax: number;
  /**
   * True for a value that means "not found". Absent values have a separate cache, so they cannot
   * evict present ones.
   */
  readonly isAbsent?: (value: Value) => boolean;
  /** The maximum number of absent values. The one that was loaded first is removed first. */
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

  /**
   * Keeps the value in the cache. Does nothing if the cached value of this key comes from a load
   * that began later.
   */
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
 * Adds an entry. If the map is then too large, drops its first entry. In `present` this is the
 * least recently used entry, because `get` moves a used entry to the end.
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
