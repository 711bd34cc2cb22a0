import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@svc/client';
import {
  createNode,
  createTenant,
  createWebhookReceiver,
  nodeAgentCommand,
  nodeAgentEntry,
  serviceEnvironment,
  serviceNames,
  startServiceProcess,
  svcText,
  type WebhookReceiver,
} from '@svc/local';
import { migrate, planMigrations } from '@svc/store';
import {
  bareEnvironment,
  createTestDatabase,
  entryUnderTest,
  startTestRedis,
  testMasterKey,
  waitUntil,
} from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { type FormerBuild, openFormerBuild } from './former-build.ts';
import { startLoad } from './load.ts';
import { formerEntry, presentEntry, startRollingServices } from './rolling-services.ts';

/** True in `pnpm upgrade:services`, which tests more than `npm test` does. */
const isLong = process.env['UPGRADE_LONG'] === '1';
const services = isLong ? serviceNames : (['gateway', 'dispatcher', 'settlement'] as const);
/** The timeout allows for a machine that is busy with other work. */
const timeoutMs = isLong ? 480_000 : 240_000;
const endsPerStep = isLong ? 10 : 2;
const forward = ['dispatcher', 'settlement', 'webhooks', 'gateway'] as const;
const back = forward.toReversed();

const former = openFormerBuild(process.env['UPGRADE_FROM']);

function report(line: string): void {
  const file = process.env['UPGRADE_REPORT'];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}

async function emptyServers() {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  onTestFinished(async () => {
    await redis.close();
    await database.close();
  });
  await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const { databaseUrl } = database;
  const addresses = { databaseUrl, redisUrl: redis.redisUrl, masterKey: testMasterKey() };
  const env = {
    ...bareEnvironment(),
    ...serviceEnvironment(addresses),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    RECONCILE_INTERVAL_MS: '250',
  };
  return { database, env };
}

function firstMigrations(names: readonly string[]): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-upgrade-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const all = path.join(import.meta.dirname, '../../prisma/migrations');
  for (const name of names) {
    mkdirSync(path.join(directory, name));
    cpSync(path.join(all, name), path.join(directory, name), { recursive: true });
  }
  return directory;
}

async function rollUpgrade(build: FormerBuild): Promise<string[]> {
  const { database, env } = await emptyServers();
  const formerSvc = path.join(build.directory, 'packages/admin-cli/src/main.ts');
  const owner = { ...env, SVC_CLI_ENTRY: formerSvc, MIGRATION_DATABASE_URL: database.ownerUrl };
  await svcText(['migrate'], owner);
  const running = await startRollingServices(formerEntry(build.directory), services, env);
  onTestFinished(() => running.stop());
  const receiver = await createWebhookReceiver();
  onTestFinished(() => receiver.close());
  const tenant = await createTenant(
    { name: 'Load', grantCredits: 1_000_000, webhookUrl: receiver.url },
    owner,
  );
  await startNode(running.nodeLinkUrl, owner);
  const client = createClient({
    baseUrl: running.gatewayUrl,
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
    maxRetries: 12,
  });
  const load = startLoad(client);
  const step = async (what: string, does: () => Promise<unknown>) => {
    await does();
    await load.settled(endsPerStep);
    report(`${what}: ${load.endedIds().length} ended, ${load.errors.length} errors`);
  };
  await step(`services of ${build.commit.slice(0, 7)}`, async () => {});
  const plan = await planMigrations(database.ownerUrl);
  if (plan.kind !== 'planned') throw new Error(plan.reason);
  const applied = await database.query<{ name: string }>(
    'SELECT migration_name AS name FROM _prisma_migrations',
  );
  const known = applied.map(({ name }) => name);
  for (const { name, blocks } of plan.pending) {
    known.push(name);
    const options = { directory: firstMigrations(known), raisesFloor: false };
    await step(`${name} (blocks ${blocks})`, () =>
      migrate(database.ownerUrl, database.databaseUrl, options),
    );
  }
  await step('rolled forward', () => running.roll(presentEntry, forward));
  if (build.hasRange) {
    await step('rolled back', () => running.roll(formerEntry(build.directory), back));
    if (isLong) await step('rolled forward again', () => running.roll(presentEntry, forward));
  } else {
    report('no roll back: the former commit accepts no later schema');
  }
  await load.stop();
  // In the short form of this test, the webhooks service does not run, so no webhook arrives.
  const unnotified = isLong ? await withoutWebhook(receiver, load.endedIds()) : [];
  return [
    ...load.errors,
    ...(await load.moved()),
    ...(await auditMoney(database.query)),
    ...unnotified.map((id) => `${id}: no webhook`),
  ];
}

async function withoutWebhook(
  { received }: WebhookReceiver,
  submissionIds: readonly string[],
): Promise<string[]> {
  const missing = () => {
    const notified = new Set(
      received
        .filter(({ event }) => event.type === 'submission.completed')
        .map(({ event }) => event.data['submissionId']),
    );
    return submissionIds.filter((id) => !notified.has(id));
  };
  await waitUntil(() => missing().length === 0, { timeoutMs: 60_000 }).catch(() => {});
  return missing();
}

async function startNode(link: string, env: NodeJS.ProcessEnv): Promise<void> {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'svc-upgrade-nodes-'));
  const credentials = await createNode('upgrade', env, 200);
  const command = nodeAgentCommand({ name: 'node', link, credentials, stateDir });
  const node = await startServiceProcess({ ...command, entry: entryUnderTest(nodeAgentEntry) });
  onTestFinished(async () => {
    await node.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });
}

test(
  'each migration since a former commit, and its services rolled forward and back, move no outcome under load',
  async ({ skip }) => {
    if (former.kind === 'missing') {
      report(`skipped: ${former.reason}`);
      return skip(former.reason);
    }
    expect(await rollUpgrade(former.build)).toEqual([]);
  },
  timeoutMs,
);

const firstRelease = ['20261120000000_init', '20261120010000_tenant_lists'];

test.runIf(isLong)('the first release comes to the last schema with its money', async () => {
  const { database } = await emptyServers();
  const first = { directory: firstMigrations(firstRelease) };
  expect(await migrate(database.ownerUrl, database.databaseUrl, first)).toMatchObject({
    applied: firstRelease,
  });
  await database.query(firstRows);
  const before = await database.query(moneySql);
  const last = await migrate(database.ownerUrl, database.databaseUrl, { raisesFloor: true });
  expect(last).toMatchObject({ kind: 'migrated', waiting: [] });
  expect(await database.query(moneySql)).toEqual(before);
  report(`first release to last: ${before.length} accounts unchanged`);
});

const firstRows = `
  INSERT INTO tenants (id, name, created_at) SELECT gen_random_uuid(), 'First', svc_now() FROM generate_series(1, 5);
  INSERT INTO credit_accounts (tenant_id) SELECT id FROM tenants;`;
const moneySql = 'SELECT tenant_id, balance_micros, held_micros FROM credit_accounts ORDER BY 1';
