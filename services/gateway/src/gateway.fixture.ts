import { randomBytes } from 'node:crypto';
import { microsPerCredit, toWireId } from '@svc/domain';
import {
  closeRedis,
  connectRedis,
  type Consumer,
  createConsumer,
  publishReplies,
  type ReplyNews,
  waitForRedis,
} from '@svc/queue';
import { createLogger, loadConfig, newId, systemClock } from '@svc/runtime';
import { createSealer, dispatchProof, newSecret, openKeyring } from '@svc/signing';
import {
  assertReady,
  commitDispatched,
  createNode,
  createOperator,
  createTenant,
  openStore,
  rejectPending,
  type Store,
} from '@svc/store';
import {
  createTestDatabase,
  type DatabaseGate,
  openDatabaseGate,
  type RawResponse,
  sendSigned,
  type SignedRequest,
  startTestRedis,
  type TestDatabase,
  testMasterKey,
  type TestRedis,
  testAuthor,
} from '@svc/testkit';
import { afterAll } from 'vitest';
import { gatewayConfig } from './config.ts';
import { run } from './run.ts';

/**
 * How the fake dispatcher handles a submission. `accept_look` commits `dispatched` and replies
 * `look`, so that the gateway reads Postgres.
 */
type Dispatching = 'accept' | 'accept_look' | 'accept_silently' | 'reject' | 'ignore';

export interface TestTenant {
  readonly uuid: string;
  readonly secret: string;
  send(request: Partial<SignedRequest> & { target: string }): Promise<RawResponse>;
}

interface TenantOptions {
  readonly credits?: number;
  readonly jobTypes?: string[];
  readonly webhookUrl?: string;
}

export interface GatewayFixture {
  readonly store: Store;
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  readonly baseUrls: readonly string[];
  readonly nodeId: string;
  dispatching: Dispatching;
  readonly dispatched: string[];
  readonly payloadTexts: Map<string, string>;
  tenant(options?: TenantOptions): Promise<TestTenant>;
  operator(): Promise<Pick<TestTenant, 'uuid' | 'send'>>;
  /**
   * Advances the monotonic clock of the gateways, by which their caches expire. Does not advance
   * the clock that the check of signatures uses.
   */
  advanceCaches(ms: number): void;
  /**
   * A proxy between the gateways and the database, with which a test can block the database. The
   * fixture itself connects directly.
   */
  readonly gate: DatabaseGate;
  endRedis(): Promise<void>;
  close(): Promise<void>;
}

const prefix = 'svc';
const logger = createLogger({ service: 'test', level: 'silent' });

export async function startGateways(env: NodeJS.ProcessEnv = {}): Promise<GatewayFixture> {
  const [database, redis] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const { databaseUrl } = database;
  const masterKey = testMasterKey();
  const sealer = createSealer(openKeyring(masterKey));
  const store = openStore({ databaseUrl, sealer, newId });
  const gate = await openDatabaseGate(databaseUrl);
  const config = loadConfig(gatewayConfig, {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: gate.databaseUrl,
    DATABASE_ALLOW_ASYNC_STANDBY: '0',
    REDIS_URL: redis.redisUrl,
    SVC_MASTER_KEY: masterKey,
    REDIS_PREFIX: prefix,
    GATEWAY_PORT: '0',
    ADMIN_PORT: '0',
    ...env,
  });
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const gateways = [await run(config, { logger, clock }), await run(config, { logger, clock })];
  const nodeId = newId();
  await createNode(
    store,
    { id: nodeId, name: 'attic', secret: newSecret('nsk', randomBytes) },
    testAuthor,
  );
  const dispatched: string[] = [];
  const payloadTexts = new Map<string, string>();
  let ending: Promise<void> | undefined;
  const endRedis = () => (ending ??= redis.close());
  const baseUrls = gateways.map(({ port }) => `http://127.0.0.1:${port}`);
  const readiness = await assertReady(store, config.SVC_ENVIRONMENT);
  if (readiness.kind !== 'ready') throw new Error(readiness.kind);
  const { requestHashKey } = readiness;
  const dispatcher = await startDispatcher(redis.redisUrl, requestHashKey, async (id) => {
    dispatched.push(id);
    return await dispatchOne(fixture, id);
  });
  const fixture: GatewayFixture = {
    store,
    database,
    redis,
    baseUrls,
    nodeId,
    dispatching: 'accept',
    dispatched,
    payloadTexts,
    tenant: (options) => newTenant(store, baseUrls[0] ?? '', options),
    operator: () => newOperator(store, baseUrls[0] ?? ''),
    advanceCaches: (ms) => void (aheadMs += ms),
    gate,
    endRedis,
    async close() {
      await dispatcher.close();
      for (const gateway of gateways) await gateway.close();
      await gate.close();
      await store.close();
      await endRedis();
      await database.close();
    },
  };
  return fixture;
}

export async function useGateways(env?: NodeJS.ProcessEnv): Promise<GatewayFixture> {
  const gateways = await startGateways(env);
  afterAll(() => gateways.close());
  return gateways;
}

async function startDispatcher(
  redisUrl: string,
  proofKey: Uint8Array,
  dispatch: (id: string) => Promise<ReplyNews | null>,
): Promise<Consumer> {
  const replies = connectRedis(redisUrl, 'producer', logger);
  await waitForRedis(replies, 5_000);
  const consumer = createConsumer({
    redisUrl,
    prefix,
    queue: 'dispatch',
    logger,
    async handle({ submissionIds, replyTo }) {
      for (const id of submissionIds) {
        const news = await dispatch(id);
        if (news === null || replyTo === null) continue;
        const proof = dispatchProof(proofKey, id);
        await publishReplies(replies, replyTo, [{ submissionId: id, news, proof }]);
      }
    },
  });
  return {
    ...consumer,
    async close() {
      await consumer.close();
      await closeRedis(replies);
    },
  };
}

async function dispatchOne(
  fixture: GatewayFixture,
  submissionId: string,
): Promise<ReplyNews | null> {
  const { store, dispatching, nodeId } = fixture;
  if (dispatching === 'ignore') return null;
  if (dispatching === 'reject') {
    await rejectPending(store, submissionId, { onlyOverdue: false });
    return 'look';
  }
  const commit = await commitDispatched(store, { submissionId, nodeId });
  if (commit.kind !== 'dispatched') return 'look';
  fixture.payloadTexts.set(submissionId, commit.payloadText);
  if (dispatching === 'accept_silently') return null;
  return dispatching === 'accept_look' ? 'look' : 'dispatched';
}

async function newTenant(
  store: Store,
  baseUrl: string,
  { credits = 10_000, jobTypes = ['ats.application'], webhookUrl }: TenantOptions = {},
): Promise<TestTenant> {
  const uuid = newId();
  const secret = newSecret('hsk_test', randomBytes);
  await createTenant(
    store,
    {
      id: uuid,
      name: 'Example Works',
      allowedJobTypes: jobTypes,
      webhookUrl: webhookUrl ?? null,
      hmacSecret: secret,
      webhookSecret: newSecret('whsec', randomBytes),
    },
    BigInt(credits * Number(microsPerCredit)),
    testAuthor,
  );
  const tenantId = toWireId('tnt', uuid);
  return {
    uuid,
    secret,
    send: (request) => sendSigned({ baseUrl, method: 'GET', tenantId, secret, ...request }),
  };
}

async function newOperator(store: Store, baseUrl: string) {
  const uuid = newId();
  const secret = newSecret('osk', randomBytes);
  await createOperator(store, { id: uuid, name: `Ana ${uuid}`, secret }, testAuthor);
  const key = { identityHeader: 'X-SVC-Operator', tenantId: toWireId('op', uuid), secret };
  return {
    uuid,
    send: (request: Partial<SignedRequest> & { target: string }) =>
      sendSigned({ baseUrl, method: 'GET', ...key, ...request }),
  };
}
