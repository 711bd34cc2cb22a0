import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fromWireId, toWireId, type RatePolicy, slotsMaxMax } from '@svc/domain';
import {
  closeRedis,
  connectRedis,
  createProducer,
  createReplyListener,
  publishCancelled,
  publishNodeChanged,
  waitForRedis,
} from '@svc/queue';
import { createLogger, loadConfig, newId } from '@svc/runtime';
import { isDispatchProof } from '@svc/signing';
import { assertReady, cancelAsOperator, createNode, type Store } from '@svc/store';
import { openFixture } from '@svc/store/fixture';
import {
  connectScriptedNode,
  lockSubmission,
  selfSigned,
  startTestRedis,
  testMasterKey,
  waitUntil,
  type ScriptedNode,
  type ScriptedNodeOptions,
  type TestDatabase,
  type TestRedis,
  testAuthor,
} from '@svc/testkit';
import { afterAll, afterEach } from 'vitest';
import { dispatcherConfig } from './config.ts';
import { type MovableTime, movableTime } from './movable-time.fixture.ts';
import { post, postJobs, type PostOptions } from './post.fixture.ts';
import { run } from './run.ts';
import { submissionRows } from './submission-rows.fixture.ts';

export type Dispatching = Awaited<ReturnType<typeof startDispatching>>;

export async function useDispatching(
  options?: Parameters<typeof startDispatching>[0],
): Promise<Dispatching> {
  const service = await startDispatching(options);
  afterAll(() => service.end());
  afterEach(() => service.settled());
  return service;
}

export function useCertificate() {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-link-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const { cert, key } = selfSigned();
  const certFile = path.join(directory, 'cert.pem');
  const keyFile = path.join(directory, 'key.pem');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const env = { NODE_LINK_TLS_CERT_FILE: certFile, NODE_LINK_TLS_KEY_FILE: keyFile };
  return { ca: cert, env };
}

export interface Credentials {
  readonly nodeId: string;
  readonly secret: string;
}

const prefix = 'dispatcher-test';
const grantedCredits = 1_000_000;

export async function startDispatching({
  dispatchers = 1,
  env = {},
  refusedUpgrades,
}: {
  dispatchers?: number;
  refusedUpgrades?: RatePolicy;
  env?: Readonly<Record<string, string>>;
} = {}) {
  const environment = env['SVC_ENVIRONMENT'] === 'production' ? 'production' : 'sandbox';
  const [fixture, server] = await Promise.all([openFixture({ environment }), startTestRedis()]);
  const { database, store } = fixture;
  const queues = await openQueues(server, await requestHashKeyOf(store, environment));
  const time = movableTime();
  const start = () => startDispatcher({ database, server, time, env, refusedUpgrades });
  const running = await Promise.all(Array.from({ length: dispatchers }, start));
  const tenantId = await fixture.tenant(grantedCredits);
  const offered: Promise<unknown>[] = [];
  const linked: ScriptedNode[] = [];
  const rows = submissionRows(database);
  const context = { store, tenantId, clock: time.clock, ...queues };
  return {
    store,
    database,
    redis: queues.redis,
    prefix,
    clock: time.clock,
    links: running.map(({ port }) => `ws://127.0.0.1:${port}`),
    async startAnother(): Promise<void> {
      running.push(await start());
    },
    close: (index: number) => running[index]?.close(),
    metrics: (index: number) => metricsAt(running[index]?.adminPort),
    newNode: (slotsMax?: number) => newNode(store, slotsMax),
    async connect(options: Partial<ScriptedNodeOptions> & { dispatcher?: number } = {}) {
      const { dispatcher = 0, ...rest } = options;
      const scheme = env['NODE_LINK_TLS_CERT_FILE'] === undefined ? 'ws' : 'wss';
      const link = `${scheme}://127.0.0.1:${running[dispatcher]?.port}`;
      const node = await connectScriptedNode({ link, ...(await newNode(store)), ...rest });
      linked.push(node);
      return node;
    },
    async post(options?: PostOptions) {
      const posted = await post(context, options);
      offered.push(posted.replied);
      return posted;
    },
    postJobs: (jobs: Parameters<typeof postJobs>[1]) => postJobs(context, jobs),
    async settled() {
      await Promise.all(linked.splice(0).map((node) => node.cut()));
      await Promise.all(offered.splice(0));
    },
    ...messages(queues.redis, store),
    advance: (ms: number) => fixture.advance(ms),
    flush: () => server.flush(),
    ...rows,
    lockRow: (id: string) => lockSubmission(database.databaseUrl, id),
    async isOffered(): Promise<boolean> {
      const { id, replied } = await this.post();
      await replied;
      return (await rows.stateOf(id)) !== 'rejected';
    },
    async end() {
      await Promise.all(running.map((dispatcher) => dispatcher.close()));
      await queues.close();
      await fixture.close();
      await server.close();
    },
  };
}

async function metricsAt(adminPort: number | undefined): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
}

type Redis = ReturnType<typeof connectRedis>;

async function requestHashKeyOf(
  store: Store,
  environment: 'sandbox' | 'production',
): Promise<Uint8Array> {
  const readiness = await assertReady(store, environment);
  if (readiness.kind !== 'ready') throw new Error(readiness.kind);
  return readiness.requestHashKey;
}

async function openQueues(server: TestRedis, proofKey: Uint8Array) {
  const redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  const producer = createProducer({ redis, prefix });
  const replies = createReplyListener({
    redisUrl: server.redisUrl,
    prefix,
    name: newId(),
    isProof: (id, proof) => isDispatchProof(proofKey, id, proof),
  });
  await waitUntil(() => replies.isListening());
  return {
    redis,
    producer,
    replies,
    async close() {
      await replies.close();
      await producer.close();
      await closeRedis(redis);
    },
  };
}

function messages(redis: Redis, store: Store) {
  return {
    /**
     * Makes the fleet registry look old. While the registry is new, a dispatcher that finds no node
     * searches again.
     */
    ageFleet: () => redis.set(`{${prefix}}:fleet:born`, 0),
    async cancel(submissionId: string) {
      await cancelAsOperator(store, submissionId, testAuthor);
      await publishCancelled(redis, prefix, submissionId);
    },
    cancelled: (submissionId: string) => publishCancelled(redis, prefix, submissionId),
    notify: (node: { nodeId: string }) => publishNodeChanged(redis, prefix, uuidOf(node.nodeId)),
    async queued(queue: 'settlement.v1' | 'webhook.v1') {
      return await redis.llen(`{${prefix}}:${queue}:wait`);
    },
  };
}

export function uuidOf(nodeId: string): string {
  const id = fromWireId('nod', nodeId);
  if (id === undefined) throw new Error('not the id of a node');
  return id;
}

async function startDispatcher({
  database,
  server,
  time,
  env,
  refusedUpgrades,
}: {
  refusedUpgrades: RatePolicy | undefined;
  database: TestDatabase;
  server: TestRedis;
  time: MovableTime;
  env: Readonly<Record<string, string>>;
}) {
  const config = loadConfig(dispatcherConfig, {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: database.databaseUrl,
    DATABASE_ALLOW_ASYNC_STANDBY: '0',
    REDIS_URL: server.redisUrl,
    REDIS_PREFIX: prefix,
    SVC_MASTER_KEY: testMasterKey(),
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
    ...env,
  });
  const level = process.env['TEST_LOG_LEVEL'] ?? 'silent';
  const logger = createLogger({ service: 'dispatcher', level });
  return await run(config, {
    logger,
    clock: time.clock,
    timers: time.timers,
    ...(refusedUpgrades === undefined ? {} : { refusedUpgrades }),
  });
}

async function newNode(store: Store, slotsMax = slotsMaxMax): Promise<Credentials> {
  const id = newId();
  const secret = `nsk_${randomUUID()}`;
  await createNode(store, { id, name: 'attic', secret, slotsMax }, testAuthor);
  return { nodeId: toWireId('nod', id), secret };
}

export function frameTypesOf(node: ScriptedNode): string[] {
  return node.frames.map(({ type }) => type);
}
