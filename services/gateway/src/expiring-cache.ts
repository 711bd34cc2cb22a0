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
 * is returned was true at most `ttlMs` ago.
 */
export function createExpiringCache<Value>({
  load,
  ttlMs,
  entriesMax,
  clock,
}: {
  readonly load: (key: string) => Promise<Value>;
  readonly ttlMs: number;
  readonly entriesMax: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): ExpiringCache<Value> {
  const entries = new Map<string, Entry<Value>>();

  function loadEntry(key: string, nowMs: number): Entry<Value> {
    const entry = { value: load(key), loadedAtMs: nowMs };
    // Deleted first, so that the map stays in the order of loading and the oldest goes first.
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest);
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return entry;
  }

  return {
    async get(key) {
      const nowMs = clock.monotonicMs();
      const found = entries.get(key);
      const isFresh = found !== undefined && nowMs - found.loadedAtMs < ttlMs;
      return await (isFresh ? found : loadEntry(key, nowMs)).value;
    },
  };
}
