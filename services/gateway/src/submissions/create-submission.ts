import { setTimeout as sleep } from 'node:timers/promises';
import { NoQuery, type OfferFacts, offerFacts } from '@svc/contracts';
import { assertNever, creditsToNumber, formatCredits } from '@svc/domain';
import { failpoint } from '@svc/runtime';
import { requestHash } from '@svc/signing';
import {
  findByIdempotencyKey,
  holdSubmission,
  type KeyedSubmission,
  type NewSubmission,
  rejectPending,
} from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, problem, type ProblemAnswer, rateLimited } from '../http/answer.ts';
import {
  decidedBeforeHold,
  type HoldEndpoint,
  holdEndpoint,
  type HoldReply,
  type TenantRequest,
} from '../http/endpoint.ts';
import { type JsonBody, readObject } from '../http/read-object.ts';
import { pollIntervalMs } from './await-outcome.ts';
import { creationAnswer, decideDuplicate, keyConflict } from './creation-answer.ts';
import {
  answerWhenDecided,
  dispatchHeld,
  type HeldSubmission,
  unconfirmedCreation,
} from './dispatch-held.ts';
import { canonicalRequest, checkJob, readIdempotencyKey } from './read-request.ts';

/**
 * The most tries of one creation. Another try follows `look_again`: the idempotency key was taken,
 * but it may be free again.
 */
const keyRoundsMax = 5;

/** `POST /v1/submissions` (CONTRACT 3). */
export function createSubmissionEndpoint(deps: GatewayDeps): HoldEndpoint {
  return holdEndpoint({
    method: 'post',
    path: '/v1/submissions',
    scope: 'spend',
    query: NoQuery,
    handle: (request) => createSubmission(deps, request),
  });
}

/**
 * A request to create a submission, with its idempotency key. Bodies with the same
 * `canonicalRequest` have the same `hash`.
 */
interface KeyedRequest {
  readonly request: TenantRequest;
  readonly body: JsonBody;
  readonly key: string;
  readonly hash: Uint8Array;
}

async function createSubmission(deps: GatewayDeps, request: TenantRequest): Promise<HoldReply> {
  const body = readObject(request);
  if (body.kind === 'problem') return decidedBeforeHold(body);
  const read = readIdempotencyKey(body);
  if (read.kind === 'problem') return decidedBeforeHold(read);
  const hash = requestHash(deps.requestHashKey, canonicalRequest(body));
  const keyed = { request, body, key: read.key, hash };
  for (let round = 0; round < keyRoundsMax; round += 1) {
    const reply = await createUnlessTaken(deps, keyed);
    if (reply !== 'look_again') return reply;
  }
  return decidedByHold(unconfirmedCreation);
}

function decidedByHold(answer: Answer): HoldReply {
  return { kind: 'answered', answer, decidedByHold: true };
}

/**
 * Creates the submission. If its idempotency key is taken, returns the answer for a duplicate, or
 * `look_again` if the key may be free again.
 */
async function createUnlessTaken(
  deps: GatewayDeps,
  keyed: KeyedRequest,
): Promise<HoldReply | 'look_again'> {
  const creation = await holdIfSound(deps, keyed);
  if (creation.kind === 'stale_credentials') return creation;
  if (creation.kind === 'held') return decidedByHold(await dispatchHeld(deps, creation));
  // A submission that already has the key decides the answer, even if this request was refused for
  // another reason (CONTRACT 3).
  const found = await findByIdempotencyKey(deps.store, keyed.request.tenant.tenantId, keyed.key);
  const answer = found === null ? undefined : await answerDuplicate(deps, found, keyed.hash);
  if (creation.kind === 'key_taken') {
    return answer === undefined || answer === 'look_again' ? 'look_again' : decidedByHold(answer);
  }
  return answer === 'look_again' ? answer : { ...creation, answer: answer ?? creation.answer };
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
      return creationAnswer(found, { isReplay: true }) ?? unconfirmedCreation;
    default:
      return assertNever(decision);
  }
}

async function holdIfSound(
  deps: GatewayDeps,
  keyed: KeyedRequest,
): Promise<HeldSubmission | { readonly kind: 'key_taken' } | HoldReply> {
  const prepared = await prepareSubmission(deps, keyed);
  if (prepared.kind === 'problem') return decidedBeforeHold(prepared);
  const { submission, facts } = prepared;
  const startMs = deps.tracing.nowMs();
  const hold = await holdSubmission(deps.store, submission);
  switch (hold.kind) {
    case 'key_taken':
    case 'stale_credentials':
      return hold;
    case 'in_flight_max':
      return decidedByHold(tooManyInFlight);
    case 'insufficient_credits':
      return decidedByHold(insufficientCredits(submission.quote.maxMicros));
    case 'held':
      deps.tracing.record({ step: 'hold', subjectId: submission.id, startMs });
      await keyed.request.trace.created(submission.id);
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

async function prepareSubmission(
  deps: GatewayDeps,
  { request, body, key, hash }: KeyedRequest,
): Promise<PreparedSubmission | ProblemAnswer> {
  const { tenantId, allowedJobTypes, rateCardVersion, accountEpoch } = request.tenant;
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
    accountEpoch,
  };
  const isSandbox = deps.environment === 'sandbox';
  const facts = offerFacts({ jobType, tier, requestId }, payload, { isSandbox });
  return { kind: 'prepared', submission, facts };
}

/** `Retry-After` is 1 s, because the service cannot know when a submission in flight will end. */
const tooManyInFlight = rateLimited(
  1_000,
  'This tenant has reached its limit of submissions in flight. Repeat the request when one of them has ended.',
);

function insufficientCredits(requiredMicros: bigint): ProblemAnswer {
  return problem(
    'insufficient_credits',
    `This submission may cost up to ${formatCredits(requiredMicros)} credits, and fewer are available. Buy credits, then repeat the request.`,
    { required: creditsToNumber(requiredMicros) },
  );
}
