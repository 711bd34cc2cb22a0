import { randomUUID } from 'node:crypto';
import { createClient } from '@svc/client';
import { createNode, createTenant, serviceEnvironment } from '@svc/local';
import {
  advanceDatabaseClock,
  bareEnvironment,
  createTestDatabase,
  startTestRedis,
  svcJson,
  testMasterKey,
  waitUntil,
} from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { application, refusal } from '../support/journey.ts';
import { presentEntry, startRollingServices } from '../upgrade/rolling-services.ts';
import { createStateDir, startGatedNode } from './gated-node.ts';

const hourMs = 3_600_000;
const services = ['gateway', 'dispatcher', 'settlement'] as const;

async function onDatabase<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const renamed = (url: string, database: string) => {
  const copy = new URL(url);
  copy.pathname = `/${database}`;
  return copy.href;
};

async function startWorld() {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const copy = `restored_${randomUUID().replaceAll('-', '')}`;
  const drop = `DROP DATABASE IF EXISTS ${copy} WITH (FORCE)`;
  onTestFinished(async () => {
    await redis.close();
    await onDatabase(renamed(database.ownerUrl, 'postgres'), drop);
    await database.close();
  });
  const envFor = (databaseUrl: string) => ({
    ...bareEnvironment(),
    ...serviceEnvironment({ databaseUrl, redisUrl: redis.redisUrl, masterKey: testMasterKey() }),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    RECONCILE_INTERVAL_MS: '250',
  });
  return {
    database,
    redis,
    env: envFor(database.databaseUrl),
    copyUrl: renamed(database.ownerUrl, copy),
    copyEnv: envFor(renamed(database.databaseUrl, copy)),
    backUp: () =>
      onDatabase(
        renamed(database.ownerUrl, 'postgres'),
        `CREATE DATABASE ${copy} TEMPLATE ${new URL(database.ownerUrl).pathname.slice(1)}`,
      ),
  };
}

const job = (key: string) => {
  const request = application(key);
  return { ...request, payload: { ...request.payload, jobContext: { title: key, company: 'X' } } };
};

type Svc = (...words: string[]) => Promise<unknown>;

const untilReported = (svc: Svc): Promise<unknown> =>
  waitUntil(
    async () => {
      const status = await svc('status');
      return JSON.stringify(status).includes('"missingNodes":[]');
    },
    { what: 'the node to report', timeoutMs: 30_000 },
  );

test('after the restore of an hour-old copy no job runs twice, and the outcomes since then are kept', async () => {
  const world = await startWorld();
  const tenant = await createTenant({ name: 'T', grantCredits: 5_000 }, world.env, svcJson);
  const credentials = await createNode('gated', world.env, 20, svcJson);
  let running = await startRollingServices(presentEntry, services, world.env);
  onTestFinished(() => running.stop());
  const { gatewayUrl, nodeLinkUrl } = running;
  const ports = {
    GATEWAY_PORT: new URL(gatewayUrl).port,
    NODE_LINK_PORT: new URL(nodeLinkUrl).port,
  };
  const node = await startGatedNode(nodeLinkUrl, credentials);
  onTestFinished(() => node.close());
  const { tenantId, hmacSecret: secret } = tenant;
  const client = createClient({ baseUrl: gatewayUrl, tenantId, secret, maxRetries: 3 });
  const firm = createClient({ baseUrl: gatewayUrl, tenantId, secret, maxRetries: 0 });
  const submit = async (key: string) => (await client.submit(job(key))).submissionId;
  const end = async (key: string, id: string) => {
    await node.complete(key);
    return client.waitFor(id, { timeoutMs: 20_000 });
  };

  // Before the backup: one submission has ended, and one runs.
  await end('ended before', await submit('ended before'));
  const acrossId = await submit('runs across');
  await node.running('runs across');
  await running.stop();
  await world.backUp();

  // In the hour that the restore loses, the submission `runs across` ends, `lost` begins and ends,
  // and `in hand` begins.
  running = await startRollingServices(presentEntry, services, { ...world.env, ...ports });
  await end('runs across', acrossId);
  const lostId = await submit('lost');
  await end('lost', lostId);
  const inHandId = await submit('in hand');
  await node.running('in hand');
  await running.stop();

  // These steps follow "Restore from a backup" in docs/OPERATIONS.md.
  await world.redis.flush();
  await advanceDatabaseClock(world.copyUrl, hourMs);
  const svc = (...words: string[]) => svcJson(['recovery', ...words], world.copyEnv);
  expect(await svc('begin')).toMatchObject({ inForce: true, incarnation: 2 });
  running = await startRollingServices(presentEntry, services, { ...world.copyEnv, ...ports });
  const refused = await refusal(firm.submit(job('during the recovery')));
  expect(refused).toMatchObject({ status: 503, code: 'unavailable' });
  await untilReported(svc);
  expect(await svc('status')).toMatchObject({
    findings: { known: 2, restored: 2 },
    inFlight: expect.objectContaining({ running: expect.any(Number) }),
    missing: [],
  });
  expect(await svc('end')).toMatchObject({ inForce: false });

  // During the recovery, the node reported the submissions `lost` and `in hand`. A creation that
  // repeats one of these keys gets the same submission.
  expect(await firm.submit(job('lost'))).toMatchObject({ submissionId: lostId, idempotent: true });
  expect(await firm.submit(job('in hand'))).toMatchObject({ submissionId: inHandId });
  await end('in hand', inHandId);
  const ended = await Promise.all(
    [acrossId, lostId, inHandId].map((id) => client.getSubmission(id)),
  );
  expect(ended.map(({ status }) => status)).toEqual(['submitted', 'submitted', 'submitted']);
  for (const key of ['ended before', 'runs across', 'lost', 'in hand'])
    expect(node.ran(key)).toBe(1);
  const money = await auditMoney((sql) => onDatabase(world.copyUrl, sql));
  expect(money).toEqual([]);
  expect(await client.balance()).toMatchObject({ held: 0 });
});

test('a node first linked after the backup is created again under its id, and its work is kept', async () => {
  const world = await startWorld();
  const tenant = await createTenant({ name: 'T', grantCredits: 5_000 }, world.env, svcJson);
  await world.backUp();

  // In the hour that the restore loses, the node is created and links for the first time. The
  // submission `lost` ends. The node is restarted while `interrupted` runs.
  const { nodeId, nodeSecret } = await createNode('gated', world.env, 20, svcJson);
  let running = await startRollingServices(presentEntry, services, world.env);
  onTestFinished(() => running.stop());
  const { gatewayUrl, nodeLinkUrl } = running;
  const ports = {
    GATEWAY_PORT: new URL(gatewayUrl).port,
    NODE_LINK_PORT: new URL(nodeLinkUrl).port,
  };
  const stateDir = createStateDir();
  const before = await startGatedNode(nodeLinkUrl, { nodeId, nodeSecret }, stateDir);
  const { tenantId, hmacSecret: secret } = tenant;
  const client = createClient({ baseUrl: gatewayUrl, tenantId, secret, maxRetries: 3 });
  const lostId = (await client.submit(job('lost'))).submissionId;
  await before.complete('lost');
  await client.waitFor(lostId, { timeoutMs: 20_000 });
  const interruptedId = (await client.submit(job('interrupted'))).submissionId;
  await before.running('interrupted');
  await running.stop();
  await before.close();

  await world.redis.flush();
  await advanceDatabaseClock(world.copyUrl, hourMs);
  const svc = (...words: string[]) => svcJson(['recovery', ...words], world.copyEnv);
  await svc('begin');
  running = await startRollingServices(presentEntry, services, { ...world.copyEnv, ...ports });
  expect(await svc('status')).toMatchObject({ missingNodes: [], findings: {} });
  const words = ['node', 'create', '--name', 'gated', '--slots-max', '20', '--id', nodeId];
  const created = Object(await svcJson(words, world.copyEnv));
  expect(created).toMatchObject({ nodeId });
  expect(await svc('status')).toMatchObject({ missingNodes: [nodeId] });
  const again = { nodeId, nodeSecret: String(created.nodeSecret) };
  const after = await startGatedNode(nodeLinkUrl, again, stateDir);
  onTestFinished(() => after.close());
  await untilReported(svc);
  expect(await svc('status')).toMatchObject({ findings: { restored: 2 }, missing: [] });
  expect(await svc('end')).toMatchObject({ inForce: false });

  for (const [key, id, ended] of [
    ['lost', lostId, { status: 'submitted' }],
    ['interrupted', interruptedId, { status: 'failed', failure: { code: 'node_error' } }],
  ] as const) {
    expect(await client.waitFor(id, { timeoutMs: 20_000 })).toMatchObject(ended);
    expect(await client.submit(job(key))).toMatchObject({ submissionId: id, idempotent: true });
    expect([before.ran(key), after.ran(key)]).toEqual([1, 0]);
  }
  expect(await auditMoney((sql) => onDatabase(world.copyUrl, sql))).toEqual([]);
  expect(await client.balance()).toMatchObject({ held: 0 });
});
