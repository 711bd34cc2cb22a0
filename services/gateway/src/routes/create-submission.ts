import { setTimeout as sleep } from 'node:timers/promises';
import { NoQuery } from '@svc/contracts';
import {
  assertNever,
  creditsToNumber,
  dispatchDeadlineMs,
  formatCredits,
  type Tier,
} from '@svc/domain';
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
import { awaitDispatchOutcome, lookEveryMs, pollIntervalMs } from '../submissions/await-outcome.ts';
import { creationAnswer, decideDuplicate, keyConflict } from '../submissions/creation-answer.ts';
import { canonicalRequest, checkJob, readIdempotencyKey } from '../submissions/read-request.ts';

/** BullMQ's: 1 is first; every dispatch job has one. */
const queuePriority: Readonly<Record<Tier, number>> = { instant: 1, priority: 2, standard: 3 };

/** How often a key may be taken and freed again under one request before it is told to come back. */
const keyRoundsMax = 5;

const outcomeUnknown = unavailable(
  'unavailable',
  'The outcome of this creation is not known; repeat it with the same idempotency key.',
);

/** `POST /v1/submissions` (SPEC 4.1, CONTRACT section 3). */
export function createSubmissionEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'post',
    path: '/v1/submissions',
    query: NoQuery,
    handle: (request) => createSubmission(deps, request),
  });
}

/** A request with its key read, and the hash by which two bodies are the same. */
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
  // The key is looked up, then taken; between the two somebody else may take it or free it.
  for (let round = 0; round < keyRoundsMax; round += 1) {
    const { tenantId } = request.tenant;
    const found = await findByIdempotencyKey(deps.store, tenantId, read.key);
    const answer =
      found === null
        ? await createUnderFreeKey(deps, keyed)
        : await answerDuplicate(deps, found, hash);
    if (answer !== 'look_again') return answer;
  }
  return outcomeUnknown;
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
        pause: (ms, attempt) => sleep(Math.min(ms, pollIntervalMs(attempt))),
      });
    case 'answer':
      return creationAnswer(found, { isReplay: true }) ?? outcomeUnknown;
    default:
      return assertNever(decision);
  }
}

async function createUnderFreeKey(
  deps: GatewayDeps,
  keyed: KeyedRequest,
): Promise<Answer | 'look_again'> {
  const submission = await prepareSubmission(deps, keyed);
  if ('kind' in submission) return submission;
  const hold = await holdSubmission(deps.store, submission);
  switch (hold.kind) {
    case 'key_taken':
      return 'look_again';
    case 'in_flight_max':
      return tooManyInFlight;
    case 'insufficient_credits':
      return insufficientCredits(submission.quote.maxMicros);
    case 'held':
      await failpoint('hold.committed');
      return dispatchHeld(deps, submission);
    default:
      return assertNever(hold);
  }
}

/** Every check before the first write; the last of them is the price. */
async function prepareSubmission(
  deps: GatewayDeps,
  { request, body, key, hash }: KeyedRequest,
): Promise<NewSubmission | ProblemAnswer> {
  const { tenantId, allowedJobTypes } = request.tenant;
  const job = checkJob(body, 'submission', allowedJobTypes);
  if (job.kind === 'problem') return job;
  const { jobType, tier, payloadText } = job;
  const quoted = await deps.pricing.quote(tenantId, { jobType, tier });
  if (quoted.kind === 'quote_failed') return problem('quote_failed', quoted.reason);
  return {
    id: deps.newId(),
    tenantId,
    idempotencyKey: key,
    requestHash: hash,
    requestId: request.requestId,
    jobType,
    tier,
    payloadText,
    quote: quoted,
  };
}

/** Passes a held submission on and answers when a node has it, or none will. */
async function dispatchHeld(deps: GatewayDeps, submission: NewSubmission): Promise<Answer> {
  const { id, tier, requestId } = submission;
  // A reply that comes before anybody waits for it is dropped, so the waiting begins first.
  let reply: Promise<unknown> | undefined = deps.replies.wait(id, lookEveryMs);
  try {
    await deps.enqueueDispatch(id, queuePriority[tier]);
  } catch (error) {
    deps.logger.warn({ err: error, requestId, submissionId: id }, 'could not enqueue');
    return answerUnsent(deps, id);
  }
  return answerWhenDecided(
    deps,
    { id, remainingMs: dispatchDeadlineMs },
    {
      isReplay: false,
      pause: (ms) => {
        const replied = reply ?? deps.replies.wait(id, ms);
        reply = undefined;
        return replied;
      },
    },
  );
}

/**
 * Redis cannot be reached: the hold goes back at once, unless the job got through all the same and
 * a node has it.
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
    readonly pause: (ms: number, attempt: number) => Promise<unknown>;
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

/** When one of them ends is anybody's guess: a second is the least that makes sense. */
const tooManyInFlight = rateLimited(
  1_000,
  'As many submissions of this tenant are in flight as may be; repeat it when one has ended.',
);

function insufficientCredits(requiredMicros: bigint): Answer {
  return problem(
    'insufficient_credits',
    `The worst case of this submission is ${formatCredits(requiredMicros)} credits, more than is available.`,
    { required: creditsToNumber(requiredMicros) },
  );
}
