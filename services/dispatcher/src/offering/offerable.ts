import { offerFacts, type DispatchJob, type OfferedPayload, type OfferFacts } from '@svc/contracts';
import { dispatchDeadlineMs } from '@svc/domain';
import { loadForDispatch } from '@svc/store';

import type { Dispatcher } from '../dispatcher.ts';

/** A submission that may be offered. */
export interface Offerable {
  readonly id: string;
  readonly facts: OfferFacts;
  /** Until the dispatch deadline. */
  readonly remainingMs: number;
  /** The database's clock when `remainingMs` were left. */
  readonly asOf: Date;
}

/** So old, by the clocks of two machines, a job may be that is taken at its word. */
const ageMsMax = 1_000;
/** And so much may the clock of its gateway be ahead. */
const aheadMsMax = 100;

/**
 * The submissions of a job that may be offered. What was held a moment ago is offered by what the
 * job says of it; anything else is asked of Postgres, which leaves out what is pending no more or
 * past its deadline. Either way the commit of `dispatched` decides. Throws when Postgres cannot be
 * reached.
 */
export async function offerablesOf(
  dispatcher: Dispatcher,
  job: DispatchJob,
): Promise<readonly Offerable[]> {
  return heldJustNow(dispatcher.clock.nowMs(), job) ?? (await load(dispatcher, job.submissionIds));
}

function heldJustNow(
  nowMs: number,
  { submissionIds, held }: DispatchJob,
): readonly Offerable[] | undefined {
  if (held === undefined || held.each.length !== submissionIds.length) return undefined;
  const ageMs = nowMs - held.sentAtMs;
  if (ageMs < -aheadMsMax || ageMs > ageMsMax) return undefined;
  const sinceMs = Math.max(0, ageMs);
  return held.each.map(({ heldAtMs, facts }, index) => ({
    id: submissionIds[index] ?? '',
    facts,
    remainingMs: dispatchDeadlineMs - sinceMs,
    asOf: new Date(heldAtMs + sinceMs),
  }));
}

async function load(
  dispatcher: Dispatcher,
  submissionIds: readonly string[],
): Promise<readonly Offerable[]> {
  const loaded = await loadForDispatch(dispatcher.store, submissionIds);
  return loaded.map((submission) => {
    const payload: OfferedPayload = JSON.parse(submission.payloadText);
    const { id, remainingMs, loadedAt: asOf } = submission;
    return { id, facts: offerFacts(submission, payload, dispatcher), remainingMs, asOf };
  });
}
