import { toWireId } from '@svc/domain';
import { createLogger, loadConfig } from '@svc/runtime';
import { silent } from '@svc/startup/fixture';
import { openHandles, waitUntil } from '@svc/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SettlementConfig, settlementConfig } from './config.ts';
import { run } from './run.ts';
import { createSettlementFixture, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
let config: SettlementConfig;
const running: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  fixture = await createSettlementFixture();
  const env = Object.entries(fixture.config).map(([name, value]) => [name, String(value)]);
  config = loadConfig(settlementConfig, Object.fromEntries(env));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
  await fixture.close();
});

async function start(overrides: Partial<SettlementConfig> = {}): Promise<string> {
  const service = await run({ ...config, ...overrides }, { logger: silent });
  running.push(service);
  return `http://127.0.0.1:${service.adminPort}`;
}

test('two workers settle from the queue, before and after FLUSHALL', async () => {
  const urls = [await start(), await start()];
  for (const url of urls) await waitUntil(async () => (await fetch(`${url}/ready`)).ok);
  const tenantId = await fixture.tenant();
  const submissionIds = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(() => fixture.submission(tenantId, 'settling')),
  );
  const settled = async () => {
    const states = await Promise.all(submissionIds.map((id) => fixture.stateOf(id)));
    return states.filter(({ state }) => state === 'submitted').length;
  };
  await fixture.deps.producer.enqueue('settlement', { submissionIds: submissionIds.slice(0, 3) });
  await waitUntil(async () => (await settled()) === 3);
  await fixture.redis.flush();
  await fixture.deps.producer.enqueue('settlement', { submissionIds: submissionIds.slice(3) });
  await waitUntil(async () => (await settled()) === 6);
  const metrics = await Promise.all(
    urls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  expect(metrics.join('')).toContain('svc_submissions_settled_total{state="submitted"');
});

test('an outcome that was never enqueued is found', async () => {
  await start();
  const submissionId = await fixture.submission(await fixture.tenant(), 'settling');
  await waitUntil(async () => (await fixture.stateOf(submissionId)).state === 'submitted');
  expect((await fixture.stateOf(submissionId)).failure).toBeNull();
});

test('a database of another environment is refused', async () => {
  await start();
  await expect(start({ SVC_ENVIRONMENT: 'production' })).rejects.toThrow('belongs to sandbox');
});

test('a schema that does not match this build is refused', async () => {
  await fixture.database.query(
    `UPDATE _prisma_migrations SET migration_name = '99999999999999_later'`,
  );
  await expect(start()).rejects.toThrow(/schema|migrations/);
});

test('a start without a database says so', async () => {
  const DATABASE_URL = 'postgresql://postgres@127.0.0.1:9/nothing';
  await expect(start({ DATABASE_URL })).rejects.toThrow(
    'Postgres at DATABASE_URL cannot be reached',
  );
});

test('without Redis a worker starts, is not ready, and reconciles', async () => {
  const url = await start({ REDIS_URL: 'redis://127.0.0.1:9' });
  const response = await fetch(`${url}/ready`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ status: 'not_ready', missing: ['redis', 'queue'] });
  const submissionId = await fixture.submission(await fixture.tenant(), 'settling');
  await waitUntil(async () => (await fixture.stateOf(submissionId)).state === 'submitted');
});

test('each settlement is logged with its submission and without personal data', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: 'settlement', level: 'info', destination });
  running.push(await run(config, { logger }));
  const submissionId = await fixture.submission(await fixture.tenant(), 'settling');
  await fixture.deps.producer.enqueue('settlement', { submissionIds: [submissionId] });
  const line = await waitUntil(() => lines.find((text) => text.includes('"settled"')));
  expect(JSON.parse(line)).toMatchObject({
    submissionId: toWireId('sub', submissionId),
    charged: '25',
    state: 'submitted',
    msg: 'settled',
  });
});

test('a worker that was closed has no timer, server or connection left', async () => {
  const before = openHandles();
  const worker = await run({ ...config, RECONCILE_INTERVAL_MS: 60_000 }, { logger: silent });
  await worker.close();
  expect(await waitUntil(() => openHandles() <= before)).toBe(true);
});
