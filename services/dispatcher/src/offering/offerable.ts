import { offerFacts, type DispatchJob, type OfferedPayload, type OfferFacts } from '@svc/contracts';
import { dispatchDeadlineMs } from '@svc/domain';
import { loadForDispatch } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';

/** A submission that may be offered. */
export interface Offerable {
  readonly id: string;
  /** Undefined if a gateway of the previous version sent the job. */
  readonly tenantId: string | undefined;
  readonly facts: OfferFacts;
  /** The time until the dispatch deadline. */
  readonly remainingMs: number;
  /** Database time at which `remainingMs` was true. */
  readonly asOf: Date;
}

/**
 * A job with a greater age is not trusted, and its submissions are loaded from Postgres. The age
 * compares the clocks of two machines.
 */
const ageMsMax = 1_000;
/** The same holds if the clock of the gateway is ahead by more than this. */
const aheadMsMax = 100;

/**
 * Returns the submissions of a job that may be offered. A job about holds made a moment ago carries
 * all facts, and is used as it is. Other submissions are loaded from Postgres. Submissions that are
 * not pending or have passed their deadline are then left out. In both cases the commit of
 * `dispatched` decides. Throws if Postgres is unreachable.
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
  return held.each.map(({ heldAtMs, facts, tenantId }, index) => ({
    id: submissionIds[index] ?? '',
    tenantId,
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
    const { id, tenantId, remainingMs, loadedAt: asOf } = submission;
    return { id, tenantId, facts: offerFacts(submission, payload, dispatcher), remainingMs, asOf };
  });
}
