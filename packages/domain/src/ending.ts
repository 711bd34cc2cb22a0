import { assertInvariant } from './assert.ts';
import { dispatchGraceMs } from './limits.ts';
import type { OfferRecord } from './offer-record.ts';
import { cancelCharge, charge } from './pricing.ts';
import type { Rate } from './rate-card.ts';
import { type SubmissionState, type SubmissionTrigger, transition } from './submission-state.ts';
import type { Usage } from './usage.ts';

export type EndingRequest =
  | { readonly kind: 'settle' }
  | { readonly kind: 'cancel'; readonly by: 'tenant' | 'operator' }
  | {
      readonly kind: 'reject';
      /**
       * True: reject only if at least `dispatchGraceMs` have passed since the dispatch deadline.
       * False: reject at any time.
       */
      readonly onlyOverdue: boolean;
      readonly offers?: readonly OfferRecord[];
    };

/** All facts except `rate` are read while the submission is locked. */
export interface EndingFacts {
  readonly state: SubmissionState;
  /**
   * The rate for the job type and tier in the rate card of the quote. Undefined if the database has
   * no such card or rate. A decision that needs the rate then throws `InvariantError`.
   */
  readonly rate: Rate | undefined;
  readonly surgeMicros: bigint;
  readonly outcomeKind: 'completed' | 'failed' | null;
  readonly usage: Usage;
  /** Milliseconds since `begin`, by the database's clock. Null before `begin`. */
  readonly runningMs: bigint | null;
  /** Milliseconds after the dispatch deadline. Negative before the deadline. */
  readonly dispatchOverdueMs: bigint;
}

export type Ending =
  | { readonly to: 'submitted' | 'failed' | 'rejected'; readonly chargeMicros: bigint }
  | {
      readonly to: 'cancelled';
      readonly chargeMicros: bigint;
      readonly by: 'tenant' | 'operator';
    };

/**
 * Decides how a request ends a submission (CONTRACT 3 to 5); null if the state or `onlyOverdue`
 * forbids the request. In `settling`, a cancel settles the stored outcome.
 */
export function decideEnding(facts: EndingFacts, request: EndingRequest): Ending | null {
  switch (request.kind) {
    case 'settle':
      return decideSettlement(facts);
    case 'cancel':
      if (facts.state !== 'settling') return decideCancel(facts, request.by);
      return request.by === 'operator' && isWithoutPrice(facts)
        ? { to: 'submitted', chargeMicros: 0n }
        : decideSettlement(facts);
    case 'reject': {
      const early = request.onlyOverdue && facts.dispatchOverdueMs < BigInt(dispatchGraceMs);
      if (early || !moves(facts.state, 'reject')) return null;
      return { to: 'rejected', chargeMicros: 0n };
    }
  }
}

/**
 * True for completed work whose card is not in the database, which no settlement can price. Only an
 * operator's cancel ends it, and charges nothing.
 */
function isWithoutPrice({ outcomeKind, rate }: EndingFacts): boolean {
  return outcomeKind === 'completed' && rate === undefined;
}

function decideSettlement(facts: EndingFacts): Ending | null {
  if (facts.outcomeKind === 'failed') {
    return moves(facts.state, 'settle_failed') ? { to: 'failed', chargeMicros: 0n } : null;
  }
  if (!moves(facts.state, 'settle_completed')) return null;
  assertInvariant(facts.outcomeKind === 'completed', 'a submission in `settling` has an outcome');
  const rate = pinnedRate(facts);
  return { to: 'submitted', chargeMicros: charge(rate, facts.surgeMicros, facts.usage) };
}

function decideCancel(facts: EndingFacts, by: 'tenant' | 'operator'): Ending | null {
  if (!moves(facts.state, 'cancel')) return null;
  // A cancel by an operator costs nothing, because the tenant did not cause it.
  const chargeMicros =
    facts.runningMs === null || by === 'operator'
      ? 0n
      : cancelCharge(pinnedRate(facts), facts.surgeMicros, facts.runningMs);
  return { to: 'cancelled', chargeMicros, by };
}

function pinnedRate(facts: EndingFacts): Rate {
  assertInvariant(
    facts.rate !== undefined,
    'the rate card of a quote has a rate for its job type and tier',
  );
  return facts.rate;
}

function moves(state: SubmissionState, trigger: SubmissionTrigger): boolean {
  return transition(state, trigger).kind === 'moved';
}
