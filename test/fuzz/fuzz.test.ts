import type { Agent } from 'node:http';
import { waitUntil, type TenantCredentials } from '@svc/testkit';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import {
  bytesOf,
  keptConnections,
  send,
  sendBytes,
  signatureHeaders,
  type WireAnswer,
} from '../support/wire.ts';
import { stageShares, type Plan, type Stage, plans, type Signer } from './plans.ts';

/**
 * Most generated requests are correctly signed, so they reach the checks after the signature
 * (CONTRACT 3). FUZZ_SEED repeats a run, FUZZ_REQUESTS sets its length.
 */

const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const requestsCount = Number(process.env['FUZZ_REQUESTS'] ?? 3_000);
const inFlightMax = 32;
const planChunk = 500;
const timeoutMs = 240_000;
const grants: Readonly<Record<Exclude<Signer, 'nobody'>, number>> = {
  rich: 10_000_000,
  poor: 199,
  barred: 1_000,
  unpriced: 1_000,
};

let whole: WholeStack;
let tenants: Record<Exclude<Signer, 'nobody'>, TenantCredentials>;
let agents: Agent[];

beforeAll(async () => {
  whole = await startWholeStack({
    pilot: {
      answer: (offer) => (offer.targetHost === 'declined.example.com' ? 'decline' : 'accept'),
    },
  });
  const tenant = (name: string, grantCredits: number) => whole.tenant({ name, grantCredits });
  tenants = {
    rich: await tenant('rich', grants.rich),
    poor: await tenant('poor', grants.poor),
    barred: await whole.tenant({ name: 'barred', grantCredits: grants.barred, allow: [] }),
    unpriced: await tenant('unpriced', grants.unpriced),
  };
  await whole.stack.query(`INSERT INTO rate_cards (tenant_id, card, created_at)
    SELECT t.id, c.card #- '{jobTypes,0,tiers,instant}', now() FROM tenants t, rate_cards c
    WHERE t.name = 'unpriced' AND c.tenant_id IS NULL`);
  agents = whole.stack.gatewayUrls.map(() => keptConnections(inFlightMax));
});
afterAll(async () => {
  for (const agent of agents) agent.destroy();
  await whole.close();
});

interface Findings {
  readonly violations: string[];
  readonly stages: Record<string, number>;
  readonly codes: Record<string, number>;
  readonly created: Set<string>;
  sent: number;
  signed: number;
}

test(
  `${requestsCount} requests each get an answer that the document describes, and move only their own money`,
  { timeout: timeoutMs },
  async () => {
    process.stdout.write(`FUZZ_SEED=${seed} FUZZ_REQUESTS=${requestsCount}\n`);
    const found: Findings = {
      violations: [],
      stages: {},
      codes: {},
      created: new Set(),
      sent: 0,
      signed: 0,
    };
    const startedMs = performance.now();
    const source = generatedPlans();
    await Promise.all(Array.from({ length: inFlightMax }, () => worker(source, found)));
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    const perSecond = Math.round(found.sent / seconds);
    process.stdout.write(
      `${found.sent} requests in ${seconds} s (${perSecond}/s), signed ${found.signed}\n${JSON.stringify(found.codes)}\n`,
    );
    expect(found.violations.slice(0, 20)).toEqual([]);
    expect(found.sent).toBe(requestsCount);
    expect(found.signed).toBeGreaterThanOrEqual(requestsCount / 2);
    expectQuotas(found);
    await expectAlive();
    await expectMoneyOf(found.created);
  },
);

function* generatedPlans(): Generator<Plan> {
  for (let made = 0; made < requestsCount; made += planChunk) {
    const numRuns = Math.min(planChunk, requestsCount - made);
    yield* fc.sample(plans, { seed: seed + made, numRuns });
  }
}

async function worker(source: Generator<Plan>, found: Findings): Promise<void> {
  for (const plan of source) {
    const index = (found.sent += 1) % agents.length;
    try {
      const answer = await sendPlan(plan, index);
      note(plan, answer, found);
    } catch (error) {
      found.violations.push(`${describe(plan)}: no answer: ${String(error)}`);
    }
    if (found.violations.length > 20) return;
  }
}

function describe({ stage, method, target, body = '' }: Plan): string {
  return `[${stage}] ${method} ${target.slice(0, 120)} ${JSON.stringify(Buffer.from(body).toString('utf8').slice(0, 200))}`;
}

async function sendPlan(plan: Plan, index: number): Promise<WireAnswer | undefined> {
  const { method, target, body = '' } = plan;
  const baseUrl = whole.stack.gatewayUrls[index] ?? '';
  if (method === 'RAW') return sendBytes(baseUrl, body, { waitMs: 5_000 });
  const wire = { method, target, ...(plan.body === undefined ? {} : { body }) };
  return send(
    baseUrl,
    { ...wire, headers: { ...headersOf(plan), ...plan.headers } },
    agents[index],
  );
}

function headersOf({ method, target, body, signer, spoiled }: Plan): Record<string, string> {
  if (signer === 'nobody') return {};
  const { tenantId, hmacSecret } = tenants[signer];
  const wire = { method, target, ...(body === undefined ? {} : { body }) };
  const now = Math.floor(Date.now() / 1000);
  const by = (id: string, secret: string, at = now, what = wire) =>
    signatureHeaders({ id, secret }, what, at);
  switch (spoiled?.kind) {
    case undefined:
      return by(tenantId, hmacSecret);
    case 'late':
      return by(tenantId, hmacSecret, Math.max(now + spoiled.seconds, 0));
    case 'secret':
      return by(tenantId, tenants.poor.hmacSecret);
    case 'unknown':
      return by('tnt_01jd5qz2m8f0gan4c6s1yb7kpe', hmacSecret);
    case 'other_body':
      return by(tenantId, hmacSecret, now, {
        ...wire,
        body: `${Buffer.from(bytesOf(body)).toString()} `,
      });
    case 'two_identities':
      return { ...by(tenantId, hmacSecret), 'X-SVC-Operator': tenantId };
    case 'header':
      return { ...by(tenantId, hmacSecret), [spoiled.name]: spoiled.value };
    default:
      return {};
  }
}

function note(plan: Plan, answer: WireAnswer | undefined, found: Findings): void {
  if (plan.signer !== 'nobody' && plan.spoiled === undefined) found.signed += 1;
  if (answer === undefined) {
    // The gateway does not answer bytes that are only line ends, because they are not a request
    // yet.
    if (!/^[\r\n]*$/.test(Buffer.from(plan.body ?? '').toString('latin1'))) {
      found.violations.push(`${describe(plan)}: no answer`);
    }
    return;
  }
  if (answer.headers['x-request-id'] === undefined) {
    found.violations.push(`${describe(plan)}: no x-request-id`);
  }
  const violations = plan.method === 'RAW' ? [] : whole.api.violations(plan, answer);
  found.violations.push(...violations.map((violation) => `${describe(plan)}: ${violation}`));
  const outcome = outcomeOf(answer);
  const stage = `${plan.stage} ${outcome}`;
  found.stages[stage] = (found.stages[stage] ?? 0) + 1;
  found.codes[outcome] = (found.codes[outcome] ?? 0) + 1;
  if (answer.status >= 500 && !/^503 (dispatch_unavailable|unavailable)$/.test(outcome)) {
    found.violations.push(`${describe(plan)}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  if (answer.status === 201) found.created.add(String(answer.body['submissionId']));
}

function outcomeOf(answer: WireAnswer): string {
  const isProblem = answer.headers['content-type'] === 'application/problem+json';
  return isProblem && answer.text !== ''
    ? `${answer.status} ${String(answer.body['code'])}`
    : String(answer.status);
}

/**
 * The answers which show that a request reached its stage. The number of these answers must be at
 * least half of the requests that `stageShares` plans for the stage.
 */
const answeredBy: Readonly<Record<Stage, readonly string[]>> = {
  unparsable: ['400 bad_request'],
  route: ['404 not_found', '405 method_not_allowed'],
  size: ['413 payload_too_large'],
  signature: ['401 unauthenticated'],
  query: ['422 validation_error'],
  media_type: ['415 unsupported_media_type'],
  json: ['422 validation_error'],
  key: ['422 validation_error'],
  lookup: ['200', '409 idempotency_key_conflict'],
  envelope: ['422 validation_error'],
  job_type: ['422 unknown_job_type'],
  allowlist: ['403 job_type_not_allowed'],
  tier: ['422 unknown_tier'],
  payload: ['422 validation_error'],
  quote: ['422 quote_failed'],
  hold: ['402 insufficient_credits'],
  dispatch: ['503 dispatch_unavailable'],
  created: ['201'],
  reads: ['200', '404 not_found', '422 validation_error'],
  settings: ['200', '422 validation_error'],
};

function expectQuotas({ stages }: Findings): void {
  const shares = Object.values(stageShares).reduce((sum, share) => sum + share, 0);
  const reachedOf = (stage: string, outcomes: readonly string[]) =>
    outcomes.reduce((sum, outcome) => sum + (stages[`${stage} ${outcome}`] ?? 0), 0);
  const short = Object.entries(answeredBy).flatMap(([stage, outcomes]) => {
    const share = new Map<string, number>(Object.entries(stageShares)).get(stage) ?? 0;
    const quota = Math.floor(((requestsCount * share) / shares) * 0.5);
    const reached = reachedOf(stage, outcomes);
    return reached < quota ? [`${stage}: ${reached} of ${quota}`] : [];
  });
  expect(short).toEqual([]);
}

async function expectAlive(): Promise<void> {
  for (const [index, url] of whole.stack.gatewayUrls.entries()) {
    expect((await send(url, { method: 'GET', target: '/ready' })).status).toBe(200);
    const live = await fetch(`${whole.stack.adminUrl('gateway', index)}/live`);
    expect(live.status).toBe(200);
    expect(
      whole.stack.logs('gateway', index).filter((line) => line.includes('"level":"fatal"')),
    ).toEqual([]);
  }
}

async function expectMoneyOf(created: ReadonlySet<string>): Promise<void> {
  const { query } = whole.stack;
  await waitUntil(
    async () => {
      const [row] = await query<{ open: number }>(
        `SELECT count(*)::int AS open FROM submissions WHERE state NOT IN ('submitted', 'failed', 'cancelled', 'rejected')`,
      );
      return row?.open === 0;
    },
    { what: 'the last settlement', timeoutMs: 30_000 },
  );
  expect(await auditMoney(query)).toEqual([]);
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS count FROM submissions WHERE state <> 'rejected'`,
  );
  expect(row?.count).toBe(created.size);
  const accounts = await query<{ name: string; held: string; spent: string; charged: string }>(
    `SELECT t.name, a.held_micros::text AS held,
        ((CASE t.name WHEN 'rich' THEN ${grants.rich} WHEN 'poor' THEN ${grants.poor} ELSE 1000 END) * 1000000::bigint - a.balance_micros)::text AS spent,
        (SELECT COALESCE(sum(charged_micros), 0) FROM submissions s WHERE s.tenant_id = t.id)::text AS charged
      FROM tenants t JOIN credit_accounts a ON a.tenant_id = t.id`,
  );
  expect(accounts.filter(({ held, spent, charged }) => held !== '0' || spent !== charged)).toEqual(
    [],
  );
  expect(accounts).toHaveLength(4);
}
