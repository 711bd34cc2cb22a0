import { createHash } from 'node:crypto';
import type {
  CreateOutcome,
  HistoryRecord,
  StatementRecord,
  Status,
} from '../../history/history.ts';
import type { Answer, Question } from '../load/http.ts';
import { canonical, type Json, listOf, microsOf, objectOf, textOf } from '../load/json.ts';

/**
 * The time of a request and its answer, in milliseconds of the recorder's clock. It begins before
 * the request is sent, and ends when the answer has arrived or the request has failed.
 */
export interface Interval {
  readonly beginMs: number;
  readonly endMs: number;
}

export function recordsOfExchange(
  question: Question,
  answer: Answer | undefined,
  interval: Interval,
): HistoryRecord[] {
  const { method, target, signer } = question;
  const path = target.split('?')[0] ?? '';
  if (method === 'POST' && path === '/signup') return ofSignup(question, answer, interval);
  if (signer === undefined) return [];
  const tenant = signer.id;
  const known = { tenant, answer, interval, timed: timed(answer, interval) };
  if (method === 'POST') {
    if (path === '/v1/submissions') return ofCreation(question, known);
    if (path === '/v1/credits/purchase') return ofPurchase(question, known);
    const cancelled = /^\/v1\/submissions\/([^/]+)\/cancel$/u.exec(path)?.[1];
    return cancelled === undefined ? [] : ofCancel(cancelled, known);
  }
  if (method === 'PATCH') return path === '/v1/settings' ? ofSettings(question, known) : [];
  if (answer?.status !== 200) return ofMissing(path, known);
  const { body } = answer;
  if (path === '/v1/credits/balance') return [ofBalance(body, known)];
  if (path === '/v1/credits/transactions')
    return listOf(body['data']).map((line) => ofLine(line, known));
  if (path === '/v1/submissions')
    return listOf(body['data']).flatMap((one) => ofDetail(one, 'list', known));
  return path.startsWith('/v1/submissions/') ? ofDetail(body, 'detail', known) : [];
}

interface Known {
  readonly tenant: string;
  readonly answer: Answer | undefined;
  readonly interval: Interval;
  readonly timed: { readonly beginMs: number; readonly endMs: number | null };
}

/** True if the outcome of the request is unknown. */
function isOpen(answer: Answer | undefined): boolean {
  return answer === undefined || answer.code === 'unavailable' || answer.status === 500;
}

function timed(answer: Answer | undefined, { beginMs, endMs }: Interval): Known['timed'] {
  return { beginMs, endMs: isOpen(answer) ? null : endMs };
}

function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16);
}

function parsed({ body = '{}' }: Question): Json {
  return objectOf(JSON.parse(body));
}

/**
 * A refusal with one of these statuses may be decided before the look-up of the idempotency key, so
 * it proves nothing about the key (CONTRACT 3).
 */
const beforeTheKey: ReadonlySet<number> = new Set([400, 401, 404, 405, 408, 413, 415, 429, 431]);

function ofCreation(question: Question, { tenant, answer, timed: at }: Known): HistoryRecord[] {
  if (answer !== undefined && beforeTheKey.has(answer.status)) return [];
  const { tier = 'standard', ...body } = parsed(question);
  const key = textOf(body['idempotencyKey']) ?? '';
  const outcome = isOpen(answer) ? ({ kind: 'unknown' } as const) : outcomeOf(answer);
  return [{ kind: 'create', tenant, key, body: digest({ ...body, tier }), ...at, outcome }];
}

function outcomeOf(answer: Answer | undefined): CreateOutcome {
  const { status, code, body } = answer ?? { status: 0, code: null, body: {} };
  if (status === 201 || status === 200) {
    const { idempotent: _, ...figures } = body;
    const balance = objectOf(body['balance']);
    return {
      kind: 'created',
      isReplay: status === 200,
      submissionId: textOf(body['submissionId']) ?? '',
      answer: digest(figures),
      availableAfterMicros: microsOf(balance['after']),
      heldMicros: microsOf(balance['held']),
    };
  }
  if (code === 'idempotency_key_conflict') return { kind: 'conflict' };
  if (code === 'terminal_state')
    return { kind: 'ended', submissionId: textOf(body['submissionId']) ?? '' };
  return { kind: 'refused', code: code ?? `${status}` };
}

function ofPurchase(question: Question, { answer, timed: at }: Known): HistoryRecord[] {
  const body = parsed(question);
  const isGranted = answer?.status === 201 || answer?.status === 200;
  if (!isGranted && !isOpen(answer)) return [];
  return [
    {
      kind: 'grant',
      tenant: textOf(body['tenantId']) ?? '',
      reference: textOf(body['reference']) ?? '',
      amountMicros: microsOf(body['credits']),
      ...at,
      outcome: isGranted
        ? {
            kind: 'granted',
            isReplay: answer.status === 200,
            availableAfterMicros: microsOf(objectOf(answer.body['balance'])['after']),
          }
        : { kind: 'unknown' },
    },
  ];
}

function ofCancel(submissionId: string, { answer, timed: at }: Known): HistoryRecord[] {
  if (isOpen(answer))
    return [{ kind: 'cancel', submissionId, ...at, outcome: { kind: 'unknown' } }];
  const refund = objectOf(answer?.body['refund']);
  const charged = refund['charged'];
  if (answer?.status === 200) {
    const chargedMicros = microsOf(charged);
    const refundedMicros = microsOf(refund['amount']);
    const outcome = { kind: 'cancelled', chargedMicros, refundedMicros } as const;
    return [{ kind: 'cancel', submissionId, ...at, outcome }];
  }
  const status = statusOf(answer?.body['submissionStatus']);
  if (answer?.code !== 'terminal_state' || status === undefined) return [];
  const chargedMicros = charged === undefined ? null : microsOf(charged);
  return [
    { kind: 'cancel', submissionId, ...at, outcome: { kind: 'ended', status, chargedMicros } },
  ];
}

function ofSettings(question: Question, { tenant, answer, timed: at }: Known): HistoryRecord[] {
  const url = parsed(question)['webhookUrl'];
  const isRefused = answer?.status !== 200 && !isOpen(answer);
  if (url === undefined || isRefused) return [];
  return [{ kind: 'url', tenant, url: textOf(url), ...at }];
}

function ofSignup(
  question: Question,
  answer: Answer | undefined,
  { beginMs, endMs }: Interval,
): HistoryRecord[] {
  const url = textOf(parsed(question)['webhookUrl']);
  if (answer?.status !== 201 || url === null) return [];
  return [{ kind: 'url', tenant: textOf(answer.body['tenantId']) ?? '', url, beginMs, endMs }];
}

function ofBalance(body: Json, { tenant, interval }: Known): HistoryRecord {
  const balanceMicros = microsOf(body['balance']);
  const heldMicros = microsOf(body['held']);
  return { kind: 'balance', tenant, balanceMicros, heldMicros, ...interval };
}

function ofLine(line: Json, { tenant, interval }: Known): StatementRecord {
  return {
    kind: 'statement',
    tenant,
    id: textOf(line['id']) ?? '',
    type: textOf(line['type']) ?? '',
    amountMicros: microsOf(line['amount']),
    balanceAfterMicros: microsOf(line['balanceAfter']),
    heldAfterMicros: microsOf(line['heldAfter']),
    submissionId: textOf(line['submissionId']),
    reference: textOf(line['reference']),
    ...interval,
  };
}

const statuses = ['pending', 'dispatched', 'running', 'submitted', 'failed', 'cancelled'] as const;

function statusOf(value: unknown): Status | undefined {
  return statuses.find((status) => status === value);
}

function ofDetail(record: Json, source: string, { tenant, interval }: Known): HistoryRecord[] {
  const status = statusOf(record['status']);
  if (status === undefined) return [];
  const charged = record['actualCredits'];
  return [
    {
      kind: 'status',
      submissionId: textOf(record['id']) ?? '',
      status,
      chargedMicros: typeof charged === 'number' ? microsOf(charged) : null,
      source,
      how: 'is',
      key: textOf(record['idempotencyKey']) ?? '',
      tenant,
      ...interval,
    },
  ];
}

/**
 * If a read of a submission gets 404, records the submission as rejected. Tenants ask only for ids
 * that they have seen, so 404 has no other reason.
 */
function ofMissing(path: string, { answer, interval }: Known): HistoryRecord[] {
  const submissionId = /^\/v1\/submissions\/([^/]+)$/u.exec(path)?.[1];
  if (answer?.status !== 404 || submissionId === undefined) return [];
  return [
    {
      kind: 'status',
      submissionId,
      status: 'rejected',
      chargedMicros: null,
      source: 'detail',
      how: 'is',
      ...interval,
    },
  ];
}
