import { setTimeout as sleep } from 'node:timers/promises';
import { NoQuery, type OfferFacts, offerFacts } from '@svc/contracts';
import {
  assertNever,
  creditsToNumber,
  dispatchDeadlineMs,
  formatCredits,
  type Tier,
  toWireId,
} from '@svc/domain';
import type { ReplyNews } from '@svc/queue';
import { failpoint } from '@svc/runtime';
import { requestHash } from '@svc/signing';
import {
  findByIdempotencyKey,
  holdSubmission,
  type KeyedSubmission,
  type NewSubmission,
  readDispatchOutcome,
  rejectPending,
} from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import {
  type Answer,
  problem,
  type ProblemAnswer,
  rateLimited,
  unavailable,
} from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint, type TenantRequest } from '../http/endpoint.ts';
import { type JsonBody, readObject } from '../http/read-object.ts';
import { awaitDispatchOutcome, lookEveryMs, pollIntervalMs } from './await-outcome.ts';
import {
  creationAnswer,
  decideDuplicate,
  keyConflict,
  type CreationState,
} from './creation-answer.ts';
import { canonicalRequest, checkJob, readIdempotencyKey } from './read-request.ts';

/** BullMQ's job priorities; 1 runs first. Every dispatch job has one. */
const queuePriority: Readonly<Record<Tier, number>> = { instant: 1, priority: 2, standard: 3 };

/** If a key is taken and freed this often during one request, the answer is `outcomeUnknown`. */
const keyRoundsMax = 5;

const outcomeUnknown = unavailable(
  'unavailable',
  'The outcome of this creation is unknown. Repeat the request with the same idempotency key.',
);

/** `POST /v1/submissions` (CONTRACT 3). */
export function createSubmissionEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/submissions',
    query: NoQuery,
    handle: (request) => createSubmission(deps, request),
  });
}

/** A request with its idempotency key and the hash that is equal for two bodies of equal meaning. */
interface KeyedRequest {
  readonly request: TenantRequest;
  readonly body: JsonBody;
  readonly key: string;
  readonly hash: Uint8Array;
}

async function createSubmission(deps: GatewayDeps, request: TenantRequest): Promise<Answer> {
  const body = readObject(request);
  if (body.kind === 'problem') return body;
  const read = readIdempotencyKey(body);
  if (read.kind === 'problem') return read;
  const hash = requestHash(deps.requestHashKey, canonicalRequest(body));
  const keyed = { request, body, key: read.key, hash };
  // The key may be freed and taken again between the hold that found it taken and its look-up.
  for (let round = 0; round < keyRoundsMax; round += 1) {
    const answer = await createUnlessTaken(deps, keyed);
    if (answer !== 'look_again') return answer;
  }
  return outcomeUnknown;
}

/**
 * A taken key decides the answer before any other refusal (CONTRACT 3). The hold statement
 * checks the key, so a separate look-up runs only if the hold did not succeed. It runs after every
 * refusal, because the hold that took the key may be concurrent with the refused one.
 */
async function createUnlessTaken(
  deps: GatewayDeps,
  keyed: KeyedRequest,
): Promise<Answer | 'look_again'> {
  const creation = await holdIfSound(deps, keyed);
  if (creation.kind === 'held') return dispatchHeld(deps, creation);
  const found = await findByIdempotencyKey(deps.store, keyed.request.tenant.tenantId, keyed.key);
  if (found !== null) return answerDuplicate(deps, found, keyed.hash);
  return creation.kind === 'key_taken' ? 'look_again' : creation;
}

async function answerDuplicate(
  deps: GatewayDeps,
  found: KeyedSubmission,
  hash: Uint8Array,
): Promise<Answer | 'look_again'> {
  const decision = decideDuplicate(found, hash);
  switch (decision) {
    case 'conflict':
      return keyConflict;
    case 'reject':
      await rejectPending(deps.store, found.id, { onlyOverdue: true });
      return 'look_again';
    case 'wait':
      return answerWhenDecided(deps, found, {
        isReplay: true,
        pause: (ms, attempt) => sleep(Math.min(ms, pollIntervalMs(attempt)), undefined),
      });
    case 'answer':
      return creationAnswer(found, { isReplay: true }) ?? outcomeUnknown;
    default:
      return assertNever(decision);
  }
}

/** A submission whose hold is committed, with the figures for the answer. */
interface HeldSubmission {
  readonly kind: 'held';
  readonly submission: NewSubmission;
  readonly facts: OfferFacts;
  readonly availableAfterMicros: bigint;
  /** Unix time by the database's clock. */
  readonly heldAtMs: number;
}

/** Runs every check that needs no write, then places the hold. */
async function holdIfSound(
  deps: GatewayDeps,
  keyed: KeyedRequest,
): Promise<HeldSubmission | { readonly kind: 'key_taken' } | ProblemAnswer> {
  const prepared = await prepareSubmission(deps, keyed);
  if (prepared.kind === 'problem') return prepared;
  const { submission, facts } = prepared;
  const hold = await holdSubmission(deps.store, submission);
  switch (hold.kind) {
    case 'key_taken':
      return hold;
    case 'stale_credentials':
      throw new Error('a hold without an epoch compares none');
    case 'in_flight_max':
      return tooManyInFlight;
    case 'insufficient_credits':
      return insufficientCredits(submission.quote.maxMicros);
    case 'held':
      await failpoint('hold.committed');
      return { ...hold, submission, facts };
    default:
      return assertNever(hold);
  }
}

interface PreparedSubmission {
  readonly kind: 'prepared';
  readonly submission: NewSubmission;
  readonly facts: OfferFacts;
}

/** Runs every check before the first write. The price is the last one. */
async function prepareSubmission(
  deps: GatewayDeps,
  { request, body, key, hash }: KeyedRequest,
): Promise<PreparedSubmission | ProblemAnswer> {
  const { tenantId, allowedJobTypes, rateCardVersion } = request.tenant;
  const job = checkJob(body, 'submission', allowedJobTypes);
  if (job.kind === 'problem') return job;
  const { jobType, tier, payloadText, payload } = job;
  const { requestId } = request;
  const quoted = await deps.pricing.quote(rateCardVersion, { jobType, tier });
  if (quoted.kind === 'quote_failed') return problem('quote_failed', quoted.reason);
  const submission = {
    id: deps.newId(),
    tenantId,
    idempotencyKey: key,
    requestHash: hash,
    requestId,
    jobType,
    tier,
    payloadText,
    quote: quoted,
  };
  const isSandbox = deps.environment === 'sandbox';
  const facts = offerFacts({ jobType, tier, requestId }, payload, { isSandbox });
  return { kind: 'prepared', submission, facts };
}

/** Enqueues a held submission. Answers when a node has accepted it or it is rejected. */
async function dispatchHeld(deps: GatewayDeps, held: HeldSubmission): Promise<Answer> {
  const { id, tier, requestId } = held.submission;
  // A reply without a waiter is dropped, so the wait begins before the job is enqueued.
  let reply: Promise<ReplyNews | 'timeout'> | undefined = deps.replies.wait(id, lookEveryMs);
  try {
    const { heldAtMs, facts } = held;
    await deps.enqueueDispatch({ submissionId: id, heldAtMs, facts }, queuePriority[tier]);
  } catch (error) {
    deps.logger.warn(
      { err: error, requestId, submissionId: toWireId('sub', id) },
      'could not enqueue the dispatch job',
    );
    return answerUnsent(deps, id);
  }
  return answerWhenDecided(
    deps,
    { id, remainingMs: dispatchDeadlineMs },
    {
      isReplay: false,
      pause: async (ms) => {
        const replied = reply ?? deps.replies.wait(id, ms);
        reply = undefined;
        return (await replied) === 'dispatched' ? asDispatched(held) : undefined;
      },
    },
  );
}

/**
 * The submission as of the commit of `dispatched`. The hold pinned its figures, so later changes do
 * not alter its `201`.
 */
function asDispatched({ submission, availableAfterMicros }: HeldSubmission): CreationState {
  return {
    id: submission.id,
    state: 'dispatched',
    dispatched: true,
    quote: submission.quote,
    availableAfterMicros,
    chargedMicros: null,
    refundedMicros: null,
  };
}

/**
 * Answers a creation that could not be enqueued. The hold is released at once, unless the job
 * reached Redis despite the error and a node has accepted it.
 */
async function answerUnsent(deps: GatewayDeps, id: string): Promise<Answer> {
  const rejection = await rejectPending(deps.store, id, { onlyOverdue: false });
  if (rejection.kind === 'rejected') return outcomeUnknown;
  const creation = await readDispatchOutcome(deps.store, id);
  if (creation === null || creation.state === 'rejected') return outcomeUnknown;
  return creationAnswer(creation, { isReplay: false }) ?? outcomeUnknown;
}

async function answerWhenDecided(
  deps: GatewayDeps,
  { id, remainingMs }: { readonly id: string; readonly remainingMs: number },
  {
    isReplay,
    pause,
  }: {
    readonly isReplay: boolean;
    readonly pause: (ms: number, attempt: number) => Promise<CreationState | undefined>;
  },
): Promise<Answer> {
  const creation = await awaitDispatchOutcome({
    read: () => readDispatchOutcome(deps.store, id),
    reject: () => rejectPending(deps.store, id, { onlyOverdue: true }),
    pause,
    monotonicMs: () => deps.clock.monotonicMs(),
    remainingMs,
  });
  if (creation === undefined) return outcomeUnknown;
  return creationAnswer(creation, { isReplay }) ?? outcomeUnknown;
}

/** `Retry-After` is 1 s, because the service cannot know when a submission in flight will end. */
const tooManyInFlight = rateLimited(
  1_000,
  'This tenant has reached its limit of submissions in flight. Repeat the request when one has ended.',
);

function insufficientCredits(requiredMicros: bigint): ProblemAnswer {
  return problem(
    'insufficient_credits',
    `This submission may cost up to ${formatCredits(requiredMicros)} credits, and fewer are available. Buy credits, then repeat the request.`,
    { required: creditsToNumber(requiredMicros) },
  );
}
