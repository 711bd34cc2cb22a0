import { type Answer, unavailable } from '../http/answer.ts';
import type { HoldReply } from '../http/endpoint.ts';
import type { Authentication, KeyAge, Principal } from './authenticate.ts';

/**
 * The most tries of one request. If the keys are stale at the last try too, the answer is
 * `keysChange`.
 */
const roundsMax = 4;

const keysChange = unavailable(
  'unavailable',
  'The credentials of this tenant changed several times during this request. Repeat the request.',
);

/**
 * Answers a request with keys from the cache. If they are not recent (`KeyAge`), a hold compares
 * their epoch (decision 17), or the request is authenticated again.
 */
export async function answerWithCurrentKeys({
  firstAge,
  identify,
  attempt,
}: {
  /** With `any`, `attempt` can run several times, also with old keys. */
  readonly firstAge: KeyAge;
  readonly identify: (age: KeyAge) => Promise<Authentication>;
  /**
   * If `firstAge` is `any`, `attempt` must change nothing in Postgres before a hold has checked the
   * keys. The only exception is to reject an overdue creation.
   */
  readonly attempt: (principal: Principal) => Promise<HoldReply>;
}): Promise<{
  /** Undefined if the authentication of the request fails. */
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
