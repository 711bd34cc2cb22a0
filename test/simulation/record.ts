import type { HistoryRecord, Status } from '../history/history.ts';
import type { Operation, Outcome, SubmissionFact } from './operations.ts';

const statuses = [
  'pending',
  'dispatched',
  'running',
  'settling',
  'submitted',
  'failed',
  'cancelled',
  'rejected',
] as const;

function statusOf(state: string): Status {
  const status = statuses.find((one) => one === state);
  if (status === undefined) throw new Error(`there is no state ${state}`);
  return status;
}

/** The times just before and just after one operation, by the recorder's clock. */
interface Interval {
  readonly beginMs: number;
  readonly endMs: number;
}

/** Returns the history records of one operation. `outcome` is undefined if it is unknown. */
export function recordsOfOperation(
  operation: Operation,
  outcome: Outcome | undefined,
  interval: Interval,
): HistoryRecord[] {
  const at = { beginMs: interval.beginMs, endMs: outcome === undefined ? null : interval.endMs };
  switch (operation.kind) {
    case 'hold':
      return [ofHold(operation, outcome, at)];
    case 'reject': {
      const result = outcome?.result === 'rejected' ? 'rejected' : 'not_rejected';
      const { submissionId } = operation;
      return [{ kind: 'reject', submissionId, ...at, outcome: outcome ? result : 'unknown' }];
    }
    case 'cancel':
      return ofCancel(operation, outcome, at);
    case 'grant':
      return ofGrant(operation, outcome, at);
    case 'payRebate': {
      const { tenantId: tenant } = operation;
      if (outcome !== undefined && outcome.result !== 'paid') return [];
      const paidMicros = outcome === undefined ? null : BigInt(outcome.paidMicros ?? 0);
      return [{ kind: 'rebate', tenant, ...at, paidMicros }];
    }
    case 'look':
      return outcome === undefined ? [] : ofLook(operation, outcome, interval);
    case 'settle':
      return (outcome?.facts ?? []).map((one) => ({
        ...seen(one, 'reached', interval),
        endedIt: true,
      }));
    case 'dispatch':
    case 'begin':
    case 'complete':
    case 'fail':
      return (outcome?.facts ?? []).map((one) => seen(one, 'reached', interval));
    case 'quote':
    case 'usage':
      return [];
  }
}

type Timed = Pick<Extract<HistoryRecord, { kind: 'create' }>, 'beginMs' | 'endMs'>;

function ofHold(
  { tenantId: tenant, key, submissionId, maxMicros }: Extract<Operation, { kind: 'hold' }>,
  outcome: Outcome | undefined,
  at: Timed,
): HistoryRecord {
  const create = { kind: 'create', tenant, key, body: 'the same', ...at } as const;
  switch (outcome?.result) {
    case undefined:
      return { ...create, outcome: { kind: 'unknown' } };
    case 'held':
      return {
        ...create,
        outcome: {
          kind: 'created',
          isReplay: false,
          submissionId,
          answer: null,
          availableAfterMicros: BigInt(outcome?.availableMicros ?? -1),
          heldMicros: BigInt(maxMicros),
        },
      };
    case 'key_taken':
      return { ...create, outcome: { kind: 'taken' } };
    default:
      return { ...create, outcome: { kind: 'refused', code: outcome?.result ?? '' } };
  }
}

function ofCancel(
  { submissionId }: Extract<Operation, { kind: 'cancel' }>,
  outcome: Outcome | undefined,
  at: Timed,
): HistoryRecord[] {
  if (outcome === undefined)
    return [{ kind: 'cancel', submissionId, ...at, outcome: { kind: 'unknown' } }];
  const [fact] = outcome.facts;
  if (fact === undefined) return [];
  const chargedMicros = fact.chargedMicros === null ? null : BigInt(fact.chargedMicros);
  if (outcome.result !== 'cancelled') {
    const ended = { kind: 'ended', status: statusOf(fact.state), chargedMicros } as const;
    return [{ kind: 'cancel', submissionId, ...at, outcome: ended }];
  }
  const cancelled = {
    kind: 'cancelled',
    chargedMicros: chargedMicros ?? -1n,
    refundedMicros: BigInt(outcome.refundedMicros ?? -1),
  } as const;
  return [{ kind: 'cancel', submissionId, ...at, outcome: cancelled }];
}

function ofGrant(
  { tenantId: tenant, reference, micros }: Extract<Operation, { kind: 'grant' }>,
  outcome: Outcome | undefined,
  at: Timed,
): HistoryRecord[] {
  const grant = { kind: 'grant', tenant, reference, amountMicros: BigInt(micros), ...at } as const;
  if (outcome === undefined) return [{ ...grant, outcome: { kind: 'unknown' } }];
  if (outcome.result !== 'granted' && outcome.result !== 'repeated') return [];
  const isReplay = outcome.result === 'repeated';
  const availableAfterMicros = BigInt(outcome.availableMicros ?? -1);
  return [{ ...grant, outcome: { kind: 'granted', isReplay, availableAfterMicros } }];
}

function ofLook(
  { tenantId: tenant }: Extract<Operation, { kind: 'look' }>,
  { facts, balance }: Outcome,
  interval: Interval,
): HistoryRecord[] {
  const statusesSeen = facts.map((one) => seen(one, 'is', interval));
  if (balance === undefined) return statusesSeen;
  const balanceMicros = BigInt(balance.balanceMicros);
  const heldMicros = BigInt(balance.heldMicros);
  return [...statusesSeen, { kind: 'balance', tenant, balanceMicros, heldMicros, ...interval }];
}

function seen(
  { submissionId, state, chargedMicros }: SubmissionFact,
  how: 'is' | 'reached',
  interval: Interval,
): Extract<HistoryRecord, { kind: 'status' }> {
  return {
    kind: 'status',
    submissionId,
    status: statusOf(state),
    chargedMicros: chargedMicros === null ? null : BigInt(chargedMicros),
    source: 'store',
    how,
    ...interval,
  };
}
