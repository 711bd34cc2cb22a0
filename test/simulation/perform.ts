import { parseUsage, quote, type Usage } from '@svc/domain';
import {
  cancelSubmission,
  commitDispatched,
  commitRunning,
  currentRateCard,
  findSubmission,
  grantCredits,
  holdSubmission,
  payRebate,
  readBalance,
  recordUsage,
  rejectPending,
  settle,
  type Store,
  storeOutcome,
  typicalUsage,
} from '@svc/store';
import {
  type Operation,
  type Outcome,
  simulationAuthor,
  type SubmissionFact,
} from './operations.ts';

const none: Outcome = { result: 'none', facts: [] };

function fact(
  submissionId: string,
  state: string,
  chargedMicros: bigint | null = null,
): SubmissionFact {
  return { submissionId, state, chargedMicros: chargedMicros === null ? null : `${chargedMicros}` };
}

function actionsUsed(actions: number): Usage {
  return parseUsage({ actions }) ?? {};
}

export async function perform(store: Store, operation: Operation): Promise<Outcome> {
  switch (operation.kind) {
    case 'quote':
      return quoteOne(store, operation.tenantId);
    case 'hold':
      return hold(store, operation);
    case 'dispatch': {
      const { kind } = await commitDispatched(store, operation);
      return {
        ...none,
        result: kind,
        facts: kind === 'dispatched' ? [fact(operation.submissionId, kind)] : [],
      };
    }
    case 'begin': {
      const { kind } = await commitRunning(store, operation);
      return {
        ...none,
        result: kind,
        facts: kind === 'running' ? [fact(operation.submissionId, kind)] : [],
      };
    }
    case 'usage': {
      const { kind } = await recordUsage(store, {
        ...operation,
        usage: actionsUsed(operation.actions),
      });
      return { ...none, result: kind };
    }
    case 'complete':
    case 'fail':
      return report(store, operation);
    case 'settle': {
      const ended = await settle(store, operation.submissionIds);
      const moved = ended.filter(({ kind }) => kind === 'moved');
      return {
        result: `moved ${moved.length}`,
        facts: moved.map((one) => fact(one.submissionId, one.state, one.chargedMicros)),
      };
    }
    case 'cancel':
      return cancel(store, operation);
    case 'reject': {
      const { kind } = await rejectPending(store, operation.submissionId, { onlyOverdue: false });
      return {
        ...none,
        result: kind,
        facts: kind === 'rejected' ? [fact(operation.submissionId, kind)] : [],
      };
    }
    case 'grant':
      return grant(store, operation);
    case 'payRebate': {
      const outcome = await payRebate(store, operation.tenantId, simulationAuthor);
      return outcome.kind === 'paid'
        ? { ...none, result: 'paid', paidMicros: `${outcome.paidMicros}` }
        : { ...none, result: outcome.kind };
    }
    case 'look':
      return look(store, operation);
  }
}

async function cancel(
  store: Store,
  operation: Extract<Operation, { kind: 'cancel' }>,
): Promise<Outcome> {
  const outcome = await cancelSubmission(store, { ...operation, by: 'tenant' });
  if (outcome.kind === 'not_found') return { ...none, result: outcome.kind };
  const state = outcome.kind === 'cancelled' ? 'cancelled' : outcome.state;
  return {
    result: outcome.kind,
    facts: [fact(operation.submissionId, state, outcome.chargedMicros)],
    ...(outcome.kind === 'cancelled' ? { refundedMicros: `${outcome.refundedMicros}` } : {}),
  };
}

async function grant(
  store: Store,
  operation: Extract<Operation, { kind: 'grant' }>,
): Promise<Outcome> {
  const outcome = await grantCredits(
    store,
    {
      purchaseId: store.newId(),
      tenantId: operation.tenantId,
      creditsMicros: BigInt(operation.micros),
      reference: operation.reference,
      usdMicros: null,
      note: null,
    },
    simulationAuthor,
  );
  return {
    ...none,
    result: outcome.kind,
    ...('availableAfterMicros' in outcome
      ? { availableMicros: `${outcome.availableAfterMicros}` }
      : {}),
  };
}

async function look(
  store: Store,
  { submissionId, tenantId }: Extract<Operation, { kind: 'look' }>,
): Promise<Outcome> {
  const record = await findSubmission(store, tenantId, submissionId);
  const account = await readBalance(store, tenantId);
  const balance =
    account === null
      ? {}
      : {
          balance: {
            balanceMicros: `${account.balanceMicros}`,
            heldMicros: `${account.heldMicros}`,
          },
        };
  const facts = record === null ? [] : [fact(submissionId, record.state, record.chargedMicros)];
  return { result: 'looked', facts, ...balance };
}

async function quoteOne(store: Store, tenantId: string): Promise<Outcome> {
  const card = await currentRateCard(store, tenantId);
  if (card === null) return { ...none, result: 'no_card' };
  const jobType = 'ats.application';
  const quoted = quote(card, {
    jobType,
    tier: 'standard',
    surgeMicros: 1_000_000n,
    typicalUsage: await typicalUsage(store, jobType),
  });
  if (quoted.kind !== 'quoted') return { ...none, result: quoted.kind };
  const { estimatedMicros, maxMicros } = quoted;
  return {
    ...none,
    result: quoted.kind,
    quoted: { estimatedMicros: `${estimatedMicros}`, maxMicros: `${maxMicros}` },
  };
}

async function hold(
  store: Store,
  operation: Extract<Operation, { kind: 'hold' }>,
): Promise<Outcome> {
  const maxMicros = BigInt(operation.maxMicros);
  const outcome = await holdSubmission(store, {
    id: operation.submissionId,
    tenantId: operation.tenantId,
    idempotencyKey: operation.key,
    requestHash: new Uint8Array([1]),
    requestId: 'simulation',
    jobType: 'ats.application',
    tier: 'standard',
    payloadText: '{}',
    quote: { estimatedMicros: 0n, maxMicros, surgeMicros: 1_000_000n, rateCardVersion: 1 },
  });
  if (outcome.kind !== 'held') return { ...none, result: outcome.kind };
  return {
    result: outcome.kind,
    facts: [fact(operation.submissionId, 'pending')],
    availableMicros: `${outcome.availableAfterMicros}`,
  };
}

async function report(
  store: Store,
  operation: Extract<Operation, { kind: 'complete' | 'fail' }>,
): Promise<Outcome> {
  const { submissionId, nodeId } = operation;
  const outcome =
    operation.kind === 'complete'
      ? ({ kind: 'completed', usage: actionsUsed(operation.actions), result: {} } as const)
      : ({ kind: 'failed', usage: {}, code: 'ats_rejected', message: 'no' } as const);
  const { kind } = await storeOutcome(store, { submissionId, nodeId, outcome });
  return { result: kind, facts: kind === 'stored' ? [fact(submissionId, 'settling')] : [] };
}
