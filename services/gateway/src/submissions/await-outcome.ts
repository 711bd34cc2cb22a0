import { dispatchDeadlineMs, dispatchGraceMs } from '@svc/domain';

/**
 * The longest interval between two reads of Postgres while a creation is pending. If a dispatcher's
 * reply is lost, the answer to the creation is late by at most this time.
 */
export const lookEveryMs = 1_000;
/** If a creation is still pending after this time, its outcome counts as unknown. */
const waitMsMax = dispatchDeadlineMs + dispatchGraceMs + 2_000;

export interface PendingCreation {
  readonly state: string;
  /** True if the creation is still pending `dispatchGraceMs` after its dispatch deadline. */
  readonly overdue: boolean;
  /** The time until the dispatch deadline. Negative after the deadline. */
  readonly remainingMs: number;
}

/**
 * Waits until a creation leaves `pending`, and rejects an overdue one (CONTRACT 3). Undefined if
 * the creation does not exist or is still pending after `waitMsMax`.
 */
export async function awaitDispatchOutcome<Creation extends PendingCreation, Reported>(steps: {
  readonly read: () => Promise<Creation | null>;
  /** Rejects the creation if it is pending and overdue by the database's clock. */
  readonly reject: () => Promise<unknown>;
  /**
   * Waits at most `ms` before the next read of Postgres. May return what a dispatcher has reported
   * about the creation. This is then the result, and Postgres is not read.
   */
  readonly pause: (ms: number, attempt: number) => Promise<Reported | undefined>;
  readonly monotonicMs: () => number;
  readonly remainingMs: number;
}): Promise<Creation | Reported | undefined> {
  const giveUpAtMs = steps.monotonicMs() + waitMsMax;
  let remainingMs = steps.remainingMs;
  for (let attempt = 0; ; attempt += 1) {
    const overdueInMs = Math.max(remainingMs + dispatchGraceMs, 1);
    const reported = await steps.pause(Math.min(overdueInMs, lookEveryMs), attempt);
    if (reported !== undefined) return reported;
    let creation = await steps.read();
    if (creation?.overdue === true) {
      await steps.reject();
      creation = await steps.read();
    }
    if (creation === null) return undefined;
    if (creation.state !== 'pending') return creation;
    if (steps.monotonicMs() >= giveUpAtMs) return undefined;
    remainingMs = creation.remainingMs;
  }
}

const pollMsMin = 25;
const pollMsMax = 200;

/**
 * Returns the pause before the next read of Postgres while a duplicate request waits: 25, 50, 100,
 * then 200 ms. The caller may shorten the pause.
 */
export function pollIntervalMs(attempt: number): number {
  return Math.min(pollMsMin * 2 ** Math.min(attempt, 10), pollMsMax);
}
