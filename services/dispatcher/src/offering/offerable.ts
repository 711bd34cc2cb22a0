import { offerFacts, type DispatchJob, type OfferedPayload, type OfferFacts } from '@svc/contracts';
import { dispatchDeadlineMs } from '@svc/domain';
import { loadForDispatch } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';

export interface Offerable {
  readonly id: string;
  /** Undefined if the facts are those of a job from a gateway of the previous version. */
  readonly tenantId: string | undefined;
  readonly facts: OfferFacts;
  /** The time until the dispatch deadline. */
  readonly remainingMs: number;
  /** The time, by the clock of the database, from which `remainingMs` counts. */
  readonly asOf: Date;
}

/**
 * If a job is older than this, its facts are not trusted, and its submissions are loaded from
 * Postgres.
 */
const ageMsMax = 1_000;
/**
 * `sentAtMs` of a job is a time of the gateway's clock. If it is more than this ahead of this
 * dispatcher's clock, the facts of the job are not trusted.
 */
const aheadMsMax = 100;

/**
 * Returns those submissions of a job that may be offered. Reads Postgres only if the job has no
 * recent facts (decision 17). Throws if this read fails.
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
