import type { Clock, Logger } from '@svc/runtime';
import { recordKeyUses, type Store } from '@svc/store';

/** Collects the last uses of keys, so that no request waits for a write (CONTRACT 12). */
export interface KeyUses {
  /** Notes that a key signed a request. */
  used(keyId: string): void;
  /** Stores the noted uses. A failure is only logged. */
  flush(): Promise<void>;
  /** Stores the noted uses and stops the timer. */
  close(): Promise<void>;
}

/** The uses of this time share a statement. A row is written at most once a minute. */
const flushAfterMs = 20_000;
/** The most keys that wait for the statement. Beyond it they are stored at once. */
const keysMax = 10_000;

/** Stores the last use of each key. No timer runs while no key is used. */
export function createKeyUses({
  store,
  clock,
  logger,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}): KeyUses {
  /** The time of the last use, by key. */
  let pending = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size === 0) return;
    const uses = [...pending];
    pending = new Map();
    const nowMs = clock.monotonicMs();
    try {
      await recordKeyUses(
        store,
        uses.map(([keyId, usedAtMs]) => ({ keyId, agoMs: nowMs - usedAtMs })),
      );
    } catch (error) {
      logger.warn({ err: error }, 'could not store the last uses of keys');
    }
  }

  return {
    used(keyId) {
      pending.set(keyId, clock.monotonicMs());
      if (pending.size >= keysMax) void flush();
      else timer ??= setTimeout(() => void flush(), flushAfterMs).unref();
    },
    flush,
    close: flush,
  };
}
