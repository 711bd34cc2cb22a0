import {
  assertInvariant,
  decideEnding,
  type Ending,
  type EndingFacts,
  type EndingRequest,
  findRate,
  formatCredits,
  type OfferRecord,
  parseRateCard,
  planEnding,
  type SubmissionState,
  toWireId,
} from '@svc/domain';
import { type Author, insertAudit } from './audit.ts';
import { createBatcher, perStore } from './batching.ts';
import { endingEvents } from './ending-events.ts';
import {
  type LockedAccount,
  type LockedSubmission,
  lockAccounts,
  lockSubmissions,
} from './ending-locks.ts';
import { insertMovements, type TenantMovements } from './ledger.ts';
import { insertEvents, type NewEvent } from './outbox.ts';
import { usageOfText } from './rate-cards.ts';
import { isTransient } from './errors.ts';
import type { Queryable, Store } from './store.ts';

/**
 * Every way out of a hold: settlement, cancel, rejection. One transaction locks the accounts in
 * the order of their ids, then the submissions in the order of theirs (so that no two deadlock),
 * decides each purely, and writes states, ledger entries, accounts, events and deliveries
 * together. What is enqueued afterwards is only an alarm clock.
 */

export interface Ended {
  submissionId: string;
  tenantId: string;
  /** `moved`: this call ended it. `kept`: it was not in a state that this request ends. */
  kind: 'moved' | 'kept';
  state: SubmissionState;
  nodeId: string | null;
  /** Of the request that created it: what ties the logs together. */
  requestId: string;
  chargedMicros: bigint | null;
  refundedMicros: bigint | null;
  deliveryIds: string[];
}

const transientAttemptsMax = 3;

const settleBatcherOf = perStore((store) =>
  createBatcher<string, Ended | null>({
    run: async (submissionIds) => {
      const ended = await endSubmissions(store, [...new Set(submissionIds)], { kind: 'settle' });
      const byId = new Map(ended.map((one) => [one.submissionId, one]));
      return submissionIds.map((id, index) => {
        const one = byId.get(id) ?? null;
        // Asked for twice in one batch: it moved once.
        const isRepeated = one !== null && submissionIds.indexOf(id) < index;
        return isRepeated ? { ...one, kind: 'kept', deliveryIds: [] } : one;
      });
    },
  }),
);

/**
 * Settles stored outcomes (SPEC.md section 1: settle, refund). A repeated call changes nothing.
 * Calls that wait at the same time share a transaction; an unknown id is left out.
 */
export async function settle(store: Store, submissionIds: readonly string[]): Promise<Ended[]> {
  const batcher = settleBatcherOf(store);
  const ended = await Promise.all(submissionIds.map((id) => batcher.call(id)));
  return ended.filter((one) => one !== null);
}

/**
 * Rejects a submission that found no node: its hold returns, its key is free again, the tenant
 * sees neither (CONTRACT.md section 3). `onlyOverdue`: only past its deadline and grace. `offers`:
 * whom it was offered to.
 */
export async function rejectPending(
  store: Store,
  submissionId: string,
  options: { onlyOverdue: boolean; offers?: readonly OfferRecord[] },
): Promise<{ kind: 'rejected' } | { kind: 'not_pending'; state: SubmissionState | null }> {
  const { onlyOverdue, offers } = options;
  const [ended] = await endSubmissions(store, [submissionId], {
    kind: 'reject',
    onlyOverdue,
    ...(offers === undefined ? {} : { offers }),
  });
  if (ended?.kind === 'moved') return { kind: 'rejected' };
  return { kind: 'not_pending', state: ended?.state ?? null };
}

export type CancelOutcome =
  | {
      kind: 'cancelled';
      nodeId: string | null;
      chargedMicros: bigint;
      refundedMicros: bigint;
      deliveryIds: string[];
    }
  | {
      kind: 'terminal';
      state: SubmissionState;
      chargedMicros: bigint;
      refundedMicros: bigint;
      deliveryIds: string[];
    }
  | { kind: 'not_found' };

/**
 * Cancels a tenant's submission (SPEC.md 4.3, CONTRACT.md section 5). Where the node's outcome is
 * stored already, that is settled instead, and the answer is `terminal` with its deliveries.
 */
export async function cancelSubmission(
  store: Store,
  request: { submissionId: string; tenantId: string; by: 'tenant' },
): Promise<CancelOutcome> {
  const { submissionId, tenantId, by } = request;
  const [ended] = await endSubmissions(store, [submissionId], { kind: 'cancel', by }, { tenantId });
  return cancelOutcomeOf(ended);
}

/**
 * The same by an operator, of any tenant's submission: the whole hold returns (CONTRACT.md section
 * 4), and the audit log says who did it.
 */
export async function cancelAsOperator(
  store: Store,
  submissionId: string,
  by: Author,
): Promise<CancelOutcome> {
  const [ended] = await endSubmissions(
    store,
    [submissionId],
    { kind: 'cancel', by: 'operator' },
    {
      alsoWrite: async (tx, [one]) => {
        if (one?.kind === 'moved') await auditCancel(tx, one, by);
      },
    },
  );
  return cancelOutcomeOf(ended);
}

async function auditCancel(tx: Queryable, ended: Ended, by: Author): Promise<void> {
  await insertAudit(tx, by, {
    action: 'submission.cancel',
    subject: { kind: 'submission', id: toWireId('sub', ended.submissionId) },
    before: null,
    after: { state: ended.state, refunded: formatCredits(ended.refundedMicros ?? 0n) },
  });
}

function cancelOutcomeOf(ended: Ended | undefined): CancelOutcome {
  if (ended === undefined || ended.state === 'rejected') return { kind: 'not_found' };
  const { chargedMicros, refundedMicros, deliveryIds } = ended;
  assertInvariant(
    chargedMicros !== null && refundedMicros !== null,
    'after a cancel every submission has ended',
  );
  if (ended.kind === 'moved' && ended.state === 'cancelled')
    return { kind: 'cancelled', nodeId: ended.nodeId, chargedMicros, refundedMicros, deliveryIds };
  return { kind: 'terminal', state: ended.state, chargedMicros, refundedMicros, deliveryIds };
}

interface EndingScope {
  /** Only this tenant's; another's is as if it did not exist. */
  readonly tenantId?: string | null;
  /** What belongs into the same transaction. */
  readonly alsoWrite?: (tx: Queryable, ended: readonly Ended[]) => Promise<void>;
}

async function endSubmissions(
  store: Store,
  submissionIds: string[],
  request: EndingRequest,
  scope: EndingScope = {},
): Promise<Ended[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.db.$transaction((tx) =>
        endInTransaction(store, tx, submissionIds, request, scope),
      );
    } catch (error) {
      if (attempt >= transientAttemptsMax || !isTransient(error)) throw error;
    }
  }
}

async function endInTransaction(
  store: Store,
  tx: Queryable,
  submissionIds: string[],
  request: EndingRequest,
  { tenantId: onlyTenantId = null, alsoWrite }: EndingScope,
): Promise<Ended[]> {
  const accounts = await lockAccounts(tx, submissionIds, onlyTenantId);
  if (accounts.size === 0) return [];
  const submissions = await lockSubmissions(tx, submissionIds, onlyTenantId);
  const plans = submissions.map((submission) => planOne(store, accounts, submission, request));
  const moved = plans.filter((plan) => plan.ending !== null);
  if (moved.length > 0) {
    await writeStates(tx, moved, offersOf(request));
    await insertMovements(store, tx, ...moved.map((plan) => plan.movements));
    await writeAccounts(tx, moved, accounts);
    await recordTypicalUsage(tx, moved);
  }
  const deliveryIds = await insertEvents(
    store,
    tx,
    plans.flatMap((plan) => plan.events),
  );
  let next = 0;
  const ended = plans.map((plan) => {
    const own = deliveryIds.slice(next, (next += plan.events.length));
    return { ...plan.ended, deliveryIds: own.filter((id) => id !== null) };
  });
  await alsoWrite?.(tx, ended);
  return ended;
}

interface Plan {
  submission: LockedSubmission;
  ending: Ending | null;
  movements: TenantMovements;
  events: NewEvent[];
  ended: Omit<Ended, 'deliveryIds'>;
}

/** Decides one submission; the account's figures in the map are moved on for the next one. */
function planOne(
  store: Store,
  accounts: Map<string, LockedAccount>,
  submission: LockedSubmission,
  request: EndingRequest,
): Plan {
  const account = accounts.get(submission.tenant_id);
  assertInvariant(account !== undefined, 'every submission has an account');
  const ending = decideEnding(factsOf(submission), request);
  const {
    id: submissionId,
    node_id: nodeId,
    tenant_id: tenantId,
    request_id: requestId,
  } = submission;
  if (ending === null) {
    const chargedMicros = submission.charged_micros;
    const refundedMicros =
      chargedMicros === null ? null : submission.quote_max_micros - chargedMicros;
    const { state } = submission;
    return {
      submission,
      ending,
      movements: { tenantId, submissionId, movements: [] },
      events: [],
      ended: {
        submissionId,
        tenantId,
        kind: 'kept',
        state,
        nodeId,
        requestId,
        chargedMicros,
        refundedMicros,
      },
    };
  }
  const { movements, after } = planEnding(account, {
    heldMicros: submission.quote_max_micros,
    chargeMicros: ending.chargeMicros,
    rebateMillionths: BigInt(account.rebateMillionths),
  });
  accounts.set(tenantId, { ...account, ...after });
  return {
    submission,
    ending,
    movements: { tenantId, submissionId, movements },
    events: endingEvents(store, { submission, ending, account, after }),
    ended: {
      submissionId,
      tenantId,
      kind: 'moved',
      state: ending.to,
      nodeId,
      requestId,
      chargedMicros: ending.chargeMicros,
      refundedMicros: submission.quote_max_micros - ending.chargeMicros,
    },
  };
}

function factsOf(submission: LockedSubmission): EndingFacts {
  const card = parseRateCard(submission.card_version, submission.card);
  return {
    state: submission.state,
    rate: findRate(card, submission.job_type, submission.tier),
    surgeMicros: submission.surge_micros,
    outcomeKind: submission.outcome_kind,
    usage: usageOfText(submission.usage),
    runningMs: submission.running_ms,
    dispatchOverdueMs: submission.dispatch_overdue_ms,
  };
}

function offersOf(request: EndingRequest): readonly OfferRecord[] | null {
  return request.kind === 'reject' ? (request.offers ?? null) : null;
}

async function writeStates(
  tx: Queryable,
  plans: Plan[],
  offers: readonly OfferRecord[] | null,
): Promise<void> {
  const rows = plans.map(({ submission, ending }) => ({
    id: submission.id,
    from_state: submission.state,
    to_state: ending?.to,
    charged: ending?.to === 'rejected' ? null : String(ending?.chargeMicros),
    cancelled_by: ending?.to === 'cancelled' ? ending.by : null,
    at: submission.now.toISOString(),
    offers,
  }));
  const changed = await tx.$executeRaw`
    UPDATE submissions s SET state = r.to_state, charged_micros = r.charged,
      cancelled_by = r.cancelled_by, finished_at = r.at, offers = COALESCE(r.offers, s.offers)
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, from_state text,
      to_state text, charged bigint, cancelled_by text, at timestamptz, offers jsonb)
    WHERE s.id = r.id AND s.state = r.from_state`;
  assertInvariant(changed === rows.length, 'a locked submission changes only here');
}

async function writeAccounts(
  tx: Queryable,
  plans: Plan[],
  accounts: Map<string, LockedAccount>,
): Promise<void> {
  const ended = new Map<string, number>();
  for (const { submission } of plans) {
    const { tenant_id: tenantId } = submission;
    ended.set(tenantId, (ended.get(tenantId) ?? 0) + 1);
  }
  const rows = [...ended].map(([tenantId, count]) => {
    const account = accounts.get(tenantId);
    return {
      tenant_id: tenantId,
      balance: String(account?.balanceMicros),
      held: String(account?.heldMicros),
      rebate: String(account?.rebateAccruedMicros),
      ended: count,
    };
  });
  const changed = await tx.$executeRaw`
    UPDATE credit_accounts a SET balance_micros = r.balance, held_micros = r.held, rebate_accrued_micros = r.rebate,
      in_flight = a.in_flight - r.ended
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (tenant_id uuid, balance bigint,
      held bigint, rebate bigint, ended int)
    WHERE a.tenant_id = r.tenant_id`;
  assertInvariant(changed === rows.length, 'every tenant has an account');
}

/** The running figures behind `quote.estimated`: completed work only. */
async function recordTypicalUsage(tx: Queryable, plans: Plan[]): Promise<void> {
  const ids = plans.filter(({ ending }) => ending?.to === 'submitted').map((p) => p.submission.id);
  if (ids.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO job_type_usage AS u (job_type, settled_count, node_seconds, cpu_seconds, memory_gb_seconds, bandwidth_mb, actions)
    SELECT job_type, count(*), COALESCE(sum(usage_node_seconds), 0), COALESCE(sum(usage_cpu_seconds), 0),
      COALESCE(sum(usage_memory_gb_seconds), 0), COALESCE(sum(usage_bandwidth_mb), 0), COALESCE(sum(usage_actions), 0)
    FROM submissions WHERE id = ANY(${ids}::uuid[]) GROUP BY job_type ORDER BY job_type
    ON CONFLICT (job_type) DO UPDATE SET settled_count = u.settled_count + EXCLUDED.settled_count,
      node_seconds = u.node_seconds + EXCLUDED.node_seconds, cpu_seconds = u.cpu_seconds + EXCLUDED.cpu_seconds,
      memory_gb_seconds = u.memory_gb_seconds + EXCLUDED.memory_gb_seconds,
      bandwidth_mb = u.bandwidth_mb + EXCLUDED.bandwidth_mb, actions = u.actions + EXCLUDED.actions`;
}
