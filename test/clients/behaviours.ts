import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Driver, DriverAnswer } from './driver-process.ts';
import type { Proxy, ProxyAction } from './proxy.ts';

/**
 * The checks for behaviours.json. Each row of that file says what both client libraries must do in
 * one case.
 */

interface CallPlan {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly take?: 'all' | 'page';
}

export interface CallRow {
  readonly name: string;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly clockShiftSeconds?: number;
  /** The client makes the call, then its clock has this shift, then it makes the call again. */
  readonly laterClockShiftSeconds?: number;
  readonly before?: CallPlan;
  readonly beforeEnds?: true;
  readonly call: CallPlan;
  readonly proxy: readonly ProxyAction[];
  readonly requests?: number;
  readonly pausesMs?: readonly (readonly [number, number])[];
  readonly hasFreshSignatures?: true;
  readonly isSigned?: false;
  readonly pageSize?: number;
  readonly ok?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}

export interface WebhookRow {
  readonly name: string;
  readonly secrets?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly without?: string;
  readonly headerCase?: 'upper';
  readonly prefixSignature?: string;
  readonly bodySuffix?: string;
  readonly ageSeconds?: number;
  readonly maxBytes?: number;
  readonly ok: boolean;
}

interface Table {
  readonly calls: readonly CallRow[];
  readonly webhooks: readonly WebhookRow[];
}

const readText = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

export const table: Table = JSON.parse(readText('behaviours.json'));

export interface Subject {
  readonly driver: Driver;
  readonly proxy: Proxy;
  readonly tenantId: string;
  readonly secret: string;
  readonly ended: (submissionId: string) => Promise<void>;
  /**
   * The id of the tenant's oldest webhook endpoint of the kind `poll` (CONTRACT 12) that is not
   * deleted. An empty text if there is none.
   */
  readonly endpointId: () => Promise<string>;
}

let keys = 0;

export function application(atsType: string) {
  keys += 1;
  return {
    idempotencyKey: `key ${keys}`,
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType,
      applicantProfile: { name: 'Ana Pérez' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  };
}

function filled(plan: CallPlan, submissionId: string, endpointId: string): CallPlan {
  const { idempotencyKey: _, ...quote } = application('sandbox.succeed');
  const values = new Map<unknown, () => unknown>([
    ['$submission', () => application('sandbox.succeed')],
    ['$slow', () => application('sandbox.slow')],
    ['$quote', () => quote],
    ['$id', () => submissionId],
    ['$endpoint', () => endpointId],
  ]);
  return { ...plan, args: plan.args.map((arg) => values.get(arg)?.() ?? arg) };
}

export async function expectCall(subject: Subject, row: CallRow): Promise<void> {
  const { driver, proxy, tenantId, secret } = subject;
  const base = { do: 'call', baseUrl: proxy.url, tenantId, secret };
  let submissionId = '';
  const endpointId = row.call.args.includes('$endpoint') ? await subject.endpointId() : '';
  if (row.before !== undefined) {
    proxy.plan(['pass']);
    const { ok } = await driver.ask({ ...base, call: filled(row.before, '', '') });
    submissionId = Object(ok)['submissionId'];
    if (row.beforeEnds) await subject.ended(submissionId);
  }
  const call = filled(row.call, submissionId, endpointId);
  const { client = {}, clockShiftSeconds = 0, laterClockShiftSeconds } = row;
  const { secret: otherSecret, ...options } = client;
  proxy.plan(row.proxy);
  const answer = await driver.ask({
    ...base,
    ...(otherSecret === undefined ? {} : { secret: otherSecret }),
    client: options,
    clockShiftSeconds,
    laterClockShiftSeconds,
    call,
  });
  expectOutcome(row, answer);
  expectRequests(subject, row, answer);
}

function expectOutcome(row: CallRow, answer: DriverAnswer): void {
  const { ok, requestId, error, pausesMs = [] } = answer;
  if (row.error !== undefined) {
    expect(error).toMatchObject(row.error);
    if (row.error['status'] !== undefined) expect(error).toHaveProperty('requestId');
  } else {
    expect(error).toBeUndefined();
    if (row.ok !== undefined) expect(ok).toMatchObject(row.ok);
    if (row.pageSize === undefined && row.isSigned !== false) {
      expect(requestId).toEqual(expect.any(String));
    }
  }
  if (row.pausesMs === undefined) return;
  expect(pausesMs).toHaveLength(row.pausesMs.length);
  for (const [index, [least, most]] of row.pausesMs.entries()) {
    expect(pausesMs[index]).toBeGreaterThanOrEqual(least);
    expect(pausesMs[index]).toBeLessThanOrEqual(most);
  }
}

function expectRequests({ proxy: { seen } }: Subject, row: CallRow, { ok }: DriverAnswer): void {
  if (row.requests !== undefined) expect(seen).toHaveLength(row.requests);
  if (row.pageSize !== undefined) {
    const items = Array.isArray(ok) ? ok.map((item) => item.id) : [];
    expect(new Set(items).size).toBe(items.length);
    expect(items.length).toBeGreaterThan(row.pageSize);
    expect(seen).toHaveLength(Math.ceil(items.length / row.pageSize));
    return;
  }
  // Every repeat is the same request, and so has the same idempotency key.
  expect(new Set(seen.map(({ method, target, body }) => `${method} ${target} ${body}`)).size).toBe(
    1,
  );
  const signatures = seen.map(({ headers }) => headers['x-svc-signature']);
  if (row.hasFreshSignatures) expect(new Set(signatures).size).toBe(seen.length);
  for (const { headers } of seen) {
    expect(headers['user-agent']).toMatch(/^svc-client-(ts|python)\/\d+\.\d+\.\d+$/);
    expect(headers['x-svc-key']).toBe(row.client?.['keyId']);
    expect(headers['x-svc-signature'] !== undefined).toBe(row.isSigned ?? true);
  }
}

interface Vector {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const vector: Vector = JSON.parse(readText('../../packages/signing/vectors/webhook-signing.json'));

export async function expectWebhook(driver: Driver, row: WebhookRow): Promise<void> {
  const headers = Object.entries({
    ...vector.headers,
    'webhook-signature': `${row.prefixSignature ?? ''}${vector.headers['webhook-signature']}`,
    ...row.headers,
  }).filter(([name]) => name !== row.without);
  const cased = headers.map(([name, value]) => [
    row.headerCase === 'upper' ? name.toUpperCase() : name,
    value,
  ]);
  const secret = (row.secrets ?? ['$secret']).map((one) =>
    one === '$secret' ? vector.secret : one,
  );
  const sentAtMs = Number(vector.headers['webhook-timestamp']) * 1000;
  const answer = await driver.ask({
    do: 'verify',
    webhook: {
      secret,
      headers: Object.fromEntries(cased),
      body: `${vector.body}${row.bodySuffix ?? ''}`,
      nowMs: sentAtMs + (row.ageSeconds ?? 0) * 1000,
      ...(row.maxBytes !== undefined && { maxBytes: row.maxBytes }),
    },
  });
  if (row.ok) {
    expect(answer).toEqual({
      ok: { deliveryId: vector.headers['webhook-id'], type: 'submission.completed' },
    });
  } else expect(answer.error).toMatchObject({ class: 'WebhookVerificationError' });
}
