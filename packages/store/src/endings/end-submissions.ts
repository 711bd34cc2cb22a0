import type { EndingRequest, OfferRecord } from '@svc/domain';
import { isTransient } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { deliveryIdsOf, sealEvents } from '../deliveries/outbox.ts';
import { pinnedCards } from '../pricing/pinned-cards.ts';
import { lockAccounts, lockSubmissions } from './locks.ts';
import { type Ended, endedOf, planOne } from './plans.ts';
import { writeEndings } from './writes.ts';

/**
 * Two endings do not deadlock with each other, because each transaction locks first the accounts
 * and then the submissions, in the order of their ids (decision 3).
 */

const transientAttemptsMax = 3;

export interface EndingScope {
  /**
   * Only submissions of this tenant are ended; others are treated as unknown. Null or omitted:
   * submissions of any tenant.
   */
  readonly tenantId?: string | null;
  /** Called first in the transaction. If it returns true, nothing is ended and nothing returned. */
  readonly isForbidden?: (query: Query) => Promise<boolean>;
  /** Writes more rows in the same transaction, such as an audit entry. */
  readonly alsoWrite?: (query: Query, ended: readonly Ended[]) => Promise<void>;
}

/**
 * Ends the submissions that `request` can end. Returns all given submissions that exist, sorted by
 * id, as `moved` if this call ended them and otherwise as `kept`.
 */
export async function endSubmissions(
  store: Store,
  submissionIds: readonly string[],
  request: EndingRequest,
  scope: EndingScope = {},
): Promise<Ended[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.transaction(
        (query) => endInTransaction(store, query, submissionIds, request, scope),
        { opensWithReads: true },
      );
    } catch (error) {
      if (attempt >= transientAttemptsMax || !isTransient(error)) throw error;
    }
  }
}

async function endInTransaction(
  store: Store,
  query: Query,
  submissionIds: readonly string[],
  request: EndingRequest,
  { tenantId: onlyTenantId = null, isForbidden, alsoWrite }: EndingScope,
): Promise<Ended[]> {
  if (isForbidden !== undefined && (await isForbidden(query))) return [];
  // Both statements are sent at once. The accounts are still locked first, because Postgres runs
  // the statements of a connection one after the other.
  const [accounts, submissions] = await Promise.all([
    lockAccounts(query, submissionIds, onlyTenantId),
    lockSubmissions(query, submissionIds, onlyTenantId),
  ]);
  if (accounts.size === 0) return [];
  const versions = submissions.map(({ rateCardVersion }) => rateCardVersion);
  const cardOf = await pinnedCards(store, query, versions);
  const decided = submissions.map((submission) => {
    const card = cardOf(submission.rateCardVersion);
    const plan = planOne(store, accounts, submission, card, request);
    return { submission, plan, sealed: sealEvents(store, plan?.events ?? []) };
  });
  const moved = decided.flatMap(({ plan }) => (plan === null ? [] : [plan]));
  const events = decided.flatMap(({ sealed }) => sealed);
  if (moved.length > 0) {
    await writeEndings(store, query, { moved, accounts, events, offers: offersOf(request) });
  }
  const ended = decided.map(({ submission, plan, sealed }) =>
    endedOf(submission, plan, deliveryIdsOf(sealed)),
  );
  await alsoWrite?.(query, ended);
  return ended;
}

function offersOf(request: EndingRequest): readonly OfferRecord[] | null {
  return request.kind === 'reject' ? (request.offers ?? null) : null;
}
