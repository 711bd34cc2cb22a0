import { type Answer, unavailable } from '../http/answer.ts';
import type { HoldReply } from '../http/endpoint.ts';
import type { Authentication, KeyAge, Principal } from './authenticate.ts';

/** Old keys, recent ones, those that a hold asks for, and once more if they change meanwhile. */
const roundsMax = 4;

const keysChange = unavailable(
  'unavailable',
  'The credentials of this tenant changed several times during this request. Repeat the request.',
);

/**
 * Answers a request with keys that may be old (`firstAge`), so that no statement loads them first. An
 * answer is released only if a hold has compared the epoch of the keys, or if recent keys of the same
 * epoch verify the request too (CONTRACT 1). A refusal is never based on old keys.
 */
export async function answerWithCurrentKeys({
  firstAge,
  identify,
  attempt,
}: {
  readonly firstAge: KeyAge;
  readonly identify: (age: KeyAge) => Promise<Authentication>;
  /** Must change nothing unless its reply is decided by a hold. */
  readonly attempt: (principal: Principal) => Promise<HoldReply>;
}): Promise<{
  /** Undefined if the keys refuse the request. */
  readonly principal: Principal | undefined;
  readonly answer: Answer;
}> {
  let age = firstAge;
  let last: Principal | undefined;
  let unconfirmed: { readonly answer: Answer; readonly epoch: bigint | undefined } | undefined;
  for (let round = 0; round < roundsMax; round += 1) {
    const authentication = await identify(age);
    if (authentication.kind === 'problem') {
      if (age !== 'any') return { principal: undefined, answer: authentication };
      age = 'recent';
      continue;
    }
    const { principal } = authentication;
    last = principal;
    const epoch = epochOf(principal);
    if (unconfirmed !== undefined && unconfirmed.epoch === epoch) {
      return { principal, answer: unconfirmed.answer };
    }
    const reply = await attempt(principal);
    if (reply.kind === 'stale_credentials') {
      age = 'new';
      continue;
    }
    const { answer } = reply;
    if (reply.decidedByHold || age !== 'any' || isRecent(principal)) {
      return { principal, answer };
    }
    unconfirmed = { answer, epoch };
    age = 'recent';
  }
  return { principal: last, answer: keysChange };
}

function epochOf(principal: Principal): bigint | undefined {
  return principal.kind === 'tenant' ? principal.tenant.accountEpoch : undefined;
}

function isRecent(principal: Principal): boolean {
  return principal.kind === 'operator' || principal.isRecent;
}
