import { assertInvariant } from './assert.ts';
import { dispatchGraceMs } from './limits.ts';
import type { OfferRecord } from './offer-record.ts';
import { cancelCharge, charge } from './pricing.ts';
import type { Rate } from './rate-card.ts';
import { type SubmissionState, type SubmissionTrigger, transition } from './submission-state.ts';
import type { Usage } from './usage.ts';

/** Who wants a hold to end, and how. */
export type EndingRequest =
  | { readonly kind: 'settle' }
  | { readonly kind: 'cancel'; readonly by: 'tenant' | 'operator' }
  | {
      readonly kind: 'reject';
      readonly onlyOverdue: boolean;
      /** Whom it was offered to, where anybody knows. */
      readonly offers?: readonly OfferRecord[];
    };

/** What the decision rests on, read under the submission's lock. */
export interface EndingFacts {
  readonly state: SubmissionState;
  /** Of the pinned rate card. */
  readonly rate: Rate | undefined;
  /** The pinned multiplier, in millionths. */
  readonly surgeMicros: bigint;
  readonly outcomeKind: 'completed' | 'failed' | null;
  readonly usage: Usage;
  /** Since `begin`, by the service's clock; null before it. */
  readonly runningMs: bigint | null;
  /** Past the dispatch deadline; negative before it. */
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
 * How a submission ends on this request, or null where it is in no state that the request ends
 * (CONTRACT 3 to 5). A cancel that finds a stored outcome settles that instead.
 */
export function decideEnding(facts: EndingFacts, request: EndingRequest): Ending | null {
  switch (request.kind) {
    case 'settle':
      return decideSettlement(facts);
    case 'cancel':
      return facts.state === 'settling' ? decideSettlement(facts) : decideCancel(facts, request.by);
    case 'reject': {
      const early = request.onlyOverdue && facts.dispatchOverdueMs < BigInt(dispatchGraceMs);
      if (early || !moves(facts.state, 'reject')) return null;
      return { to: 'rejected', chargeMicros: 0n };
    }
  }
}

function decideSettlement(facts: EndingFacts): Ending | null {
  if (facts.outcomeKind === 'failed') {
    return moves(facts.state, 'settle_failed') ? { to: 'failed', chargeMicros: 0n } : null;
  }
  if (!moves(facts.state, 'settle_completed')) return null;
  assertInvariant(facts.outcomeKind === 'completed', 'what is settled has an outcome');
  const rate = pinnedRate(facts);
  return { to: 'submitted', chargeMicros: charge(rate, facts.surgeMicros, facts.usage) };
}

function decideCancel(facts: EndingFacts, by: 'tenant' | 'operator'): Ending | null {
  if (!moves(facts.state, 'cancel')) return null;
  // An operator's cancel is the service's own doing: the whole hold returns.
  const chargeMicros =
    facts.runningMs === null || by === 'operator'
      ? 0n
      : cancelCharge(pinnedRate(facts), facts.surgeMicros, facts.runningMs);
  return { to: 'cancelled', chargeMicros, by };
}

function pinnedRate(facts: EndingFacts): Rate {
  assertInvariant(facts.rate !== undefined, 'the pinned rate card has the rate that was quoted');
  return facts.rate;
}

function moves(state: SubmissionState, trigger: SubmissionTrigger): boolean {
  return transition(state, trigger).kind === 'moved';
}
