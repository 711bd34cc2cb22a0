import { dispatchDeadlineMs, dispatchGraceMs } from '@svc/domain';

/** Without a look at Postgres for this long, an answer may have been missed. */
export const lookEveryMs = 1_000;
/** A bound that no database clock moves: past it the outcome is unknown. */
const waitMsMax = dispatchDeadlineMs + dispatchGraceMs + 2_000;

export interface PendingCreation {
  readonly state: string;
  readonly overdue: boolean;
  /** Until the dispatch deadline; negative past it. */
  readonly remainingMs: number;
}

/**
 * Waits until a creation is pending no more, and ends it itself where it still is one second past
 * its deadline (CONTRACT 3). `pause` says when to look again in Postgres, and may end early;
 * what it was told of the outcome by whoever committed it needs no look. Undefined: still pending
 * after `waitMsMax`, or gone.
 */
export async function awaitDispatchOutcome<Creation extends PendingCreation, Told>(steps: {
  readonly read: () => Promise<Creation | null>;
  /** Rejects it, if it is pending and overdue by the database's clock. */
  readonly reject: () => Promise<unknown>;
  readonly pause: (ms: number, attempt: number) => Promise<Told | undefined>;
  readonly monotonicMs: () => number;
  /** From the hold or from what was read first, until the deadline. */
  readonly remainingMs: number;
}): Promise<Creation | Told | undefined> {
  const giveUpAtMs = steps.monotonicMs() + waitMsMax;
  let remainingMs = steps.remainingMs;
  for (let attempt = 0; ; attempt += 1) {
    const overdueInMs = Math.max(remainingMs + dispatchGraceMs, 1);
    const told = await steps.pause(Math.min(overdueInMs, lookEveryMs), attempt);
    if (told !== undefined) return told;
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

/** How long a duplicate sleeps before it looks again: 25, 50, 100, then 200 ms. */
export function pollIntervalMs(attempt: number): number {
  return Math.min(pollMsMin * 2 ** Math.min(attempt, 10), pollMsMax);
}
