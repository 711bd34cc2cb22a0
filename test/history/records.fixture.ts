import type { CreateOutcome, CreateRecord, LineRecord, Status, StatusRecord } from './history.ts';

type Interval = readonly [beginMs: number, endMs: number | null];

export function create(
  [beginMs, endMs]: Interval,
  outcome: CreateOutcome,
  { key = 'k', body = 'b' } = {},
): CreateRecord {
  return { kind: 'create', tenant: 't', key, body, beginMs, endMs, outcome };
}

export function created(
  submissionId: string,
  { isReplay = false, available = 90n, held = 10n, answer = 'a' } = {},
): CreateOutcome {
  return {
    kind: 'created',
    isReplay,
    submissionId,
    answer,
    availableAfterMicros: available,
    heldMicros: held,
  };
}

export const refused: CreateOutcome = { kind: 'refused', code: 'dispatch_unavailable' };

export function line(
  type: string,
  amountMicros: bigint,
  [balanceAfterMicros, heldAfterMicros]: readonly [bigint, bigint],
  subject: string,
): LineRecord {
  const isOfSubmission = type === 'hold' || type === 'charge' || type === 'release';
  return {
    kind: 'line',
    tenant: 't',
    id: `${type} ${subject}`,
    type,
    amountMicros,
    balanceAfterMicros,
    heldAfterMicros,
    submissionId: isOfSubmission ? subject : null,
    reference: isOfSubmission ? null : subject,
  };
}

interface Shown {
  readonly how?: 'is' | 'reached';
  readonly charged?: bigint | null;
  readonly key?: string;
}

export function status(
  submissionId: string,
  seen: Status,
  [beginMs, endMs]: readonly [number, number],
  { how = 'is', charged = null, key = 'k' }: Shown = {},
): StatusRecord {
  return {
    kind: 'status',
    submissionId,
    status: seen,
    chargedMicros: charged,
    source: 'detail',
    how,
    beginMs,
    endMs,
    key,
    tenant: 't',
  };
}
