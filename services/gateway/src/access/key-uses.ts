import type { Clock, Logger } from '@svc/runtime';
import { recordKeyUses, type Store } from '@svc/store';

/**
 * Collects the last uses of keys and stores them later. No request waits for that write
 * (CONTRACT 12).
 */
export interface KeyUses {
  /** Notes that a key signed a request. */
  used(keyId: string): void;
  /** Stores the noted uses. A failure is logged, and these uses are lost. */
  flush(): Promise<void>;
  /** Stores the noted uses and stops the timer. */
  close(): Promise<void>;
}

/**
 * The interval between two statements that store uses. The store keeps uses to the minute, so it
 * writes each row at most once a minute.
 */
const flushAfterMs = 20_000;
/** When uses of this many keys wait to be stored, they are stored at once. */
const keysMax = 10_000;

/** Stores the last use of each key. A timer runs only while uses wait. */
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
