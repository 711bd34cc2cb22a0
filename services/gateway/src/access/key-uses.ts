import type { Clock, Logger } from '@svc/runtime';
import { recordKeyUses, type Store } from '@svc/store';

/**
 * Collects the last uses of keys and stores them later (CONTRACT 12). The only request that waits
 * for that write is `GET /v1/keys`.
 */
export interface KeyUses {
  used(keyId: string): void;
  /** Stores the collected uses. If that fails, logs the error and loses these uses. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The collected uses are stored at most this long after the first of them. The store rounds the
 * time of a use down to the minute, which saves most writes.
 */
const flushAfterMs = 20_000;
/** If uses of this many keys wait to be stored, the next write does not wait for `flushAfterMs`. */
const keysMax = 10_000;

export function createKeyUses({
  store,
  clock,
  logger,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}): KeyUses {
  /** By key id: the monotonic time, in milliseconds, of the last use that waits to be stored. */
  let pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  /** Resolves when all writes so far have ended. Never rejects. */
  let written = Promise.resolve();

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    written = written.then(writePending);
    return written;
  }

  async function writePending(): Promise<void> {
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    const nowMs = clock.monotonicMs();
    try {
      const skipped = await recordKeyUses(
        store,
        [...uses].map(([keyId, usedAtMs]) => ({ keyId, agoMs: nowMs - usedAtMs })),
      );
      for (const keyId of skipped) collect(keyId, pending.get(keyId) ?? uses.get(keyId) ?? nowMs);
    } catch (error) {
      logger.warn({ err: error }, 'could not store the times at which keys were last used');
    }
  }

  function collect(keyId: string, usedAtMs: number): void {
    pending.set(keyId, usedAtMs);
    timer ??= setTimeout(() => void flush(), flushAfterMs).unref();
  }

  return {
    used(keyId) {
      collect(keyId, clock.monotonicMs());
      if (pending.size >= keysMax) void flush();
    },
    flush,
    close: flush,
  };
}
