import { type Answer, unavailable } from '../http/answer.ts';
import type { HoldReply } from '../http/endpoint.ts';
import type { Authentication, KeyAge, Principal } from './authenticate.ts';

/**
 * The most tries of one request. Three may be needed: with keys of any age, with recent keys, and
 * with new keys if a hold finds that the recent keys have changed. The fourth try is for keys that
 * change again during the request. If this try gives no final answer, the answer is `keysChange`.
 */
const roundsMax = 4;

const keysChange = unavailable(
  'unavailable',
  'The credentials of this tenant changed several times during this request. Repeat the request.',
);

/**
 * Answers a request with cached keys. The first try uses keys of the age `firstAge`. With `any`,
 * most requests need no read of Postgres for their keys, but the keys may be old. With old keys:
 *
 * - If the keys do not verify the request, recent keys decide.
 * - If a hold decided the answer, the answer is sent, because the hold compared the epoch of the
 *   keys with the epoch of the account.
 * - Any other answer waits for recent keys, which must also verify the request (CONTRACT 1). If
 *   they have the same epoch, the answer is sent. If not, the request is handled again with them.
 */
export async function answerWithCurrentKeys({
  firstAge,
  identify,
  attempt,
}: {
  readonly firstAge: KeyAge;
  readonly identify: (age: KeyAge) => Promise<Authentication>;
  /**
   * Handles the request. If `firstAge` is `any`, `attempt` may be called several times, and with
   * old keys. It must then change nothing in Postgres, except by a hold that also checks the
   * credentials.
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
