import { globSync, readFileSync } from 'node:fs';
import { waitUntil } from '@svc/testkit';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { slotOf } from './cluster-nodes.ts';
import { startTestCluster } from './cluster.fixture.ts';
import {
  announceDeliveries,
  announceService,
  closeRedis,
  connectRedis,
  createConsumer,
  createDispatcherBus,
  createFleetRegistry,
  createLogLevelFollower,
  createProducer,
  createRateLimiter,
  createReplyListener,
  createSurgeBoard,
  enqueueSettlements,
  environmentOfRedis,
  guardRedis,
  keyPrefix,
  listServices,
  pingRedis,
  publishReplies,
  type QueueLogger,
  readClusterHealth,
  readQueueStatus,
  type RedisRole,
  setLogLevel,
  takeWakeUpTenants,
  waitForRedis,
} from './index.ts';
import { quiet, settlementJob } from './queue-harness.fixture.ts';
import { createRedisGate } from './redis-gate.fixture.ts';

const boundMs = 20_000;
const prefix = 'test';
const clusterKey = keyPrefix(prefix);
/** The cluster serves only the slots of these two keys. */
const cluster = await startTestCluster([clusterKey, 'svc:environment']);
const { clusterUrl } = cluster;
afterAll(() => cluster.close());

async function connect(role: RedisRole) {
  const redis = connectRedis(clusterUrl, role, quiet, { clusterKey });
  onTestFinished(() => closeRedis(redis));
  expect(await waitForRedis(redis, boundMs)).toBe(true);
  return redis;
}

test('every script of this package touches keys of one slot', async () => {
  const redis = await connect('producer');
  const failures: unknown[] = [];
  const logger = { ...quiet, warn: ({ err }: { err?: unknown }) => void failures.push(err) };
  await callEveryScript(redis, logger);
  expect(failures).toEqual([]);
  const sources = globSync('*.ts', { cwd: import.meta.dirname }).filter(
    (file) => !file.endsWith('.test.ts') && file !== 'redis-script.ts',
  );
  const written = sources.flatMap((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8').match(/= redisScript\(/g),
  );
  const scripts = written.filter((found) => found !== null).length;
  const info = await cluster.direct.info('memory');
  // Redis caches each script that is called. If `callEveryScript` left out a script, the cache
  // would hold fewer than `scripts`.
  expect(info).toContain(`number_of_cached_scripts:${scripts}\r\n`);
  expect(await cluster.direct.dbsize()).toBeGreaterThan(5);
});

async function callLogLevelScripts(
  redis: ReturnType<typeof connectRedis>,
  logger: QueueLogger,
): Promise<void> {
  const applied: unknown[] = [];
  const follow = createLogLevelFollower({
    redis,
    prefix,
    service: 'gateway',
    monotonicMs: () => performance.now(),
    apply: (level) => applied.push(level),
    logger,
  });
  await setLogLevel(redis, prefix, 'gateway', { level: 'debug', durationMs: boundMs });
  await follow();
  expect(applied).toEqual(['debug']);
}

async function callEveryScript(
  redis: ReturnType<typeof connectRedis>,
  logger: QueueLogger,
): Promise<void> {
  const fleet = createFleetRegistry({ redis, prefix });
  await fleet.refresh('d1');
  await fleet.join({
    nodeId: 'n1',
    dispatcherId: 'd1',
    linkId: 'l1',
    epoch: 0,
    linkEpoch: 1,
    jobTypes: ['ats.application'],
    slots: 2,
    draining: false,
    submissionIds: ['s1'],
  });
  const wanted = {
    dispatcherId: 'd1',
    jobType: 'ats.application',
    tier: 'instant',
    excludeNodeIds: [],
    submissionId: 's2',
    tenantId: 't1',
    ttlMs: 3_000,
  } as const;
  expect(await fleet.reserve(wanted)).toMatchObject({ kind: 'reserved' });
  await fleet.confirm('n1', 's2');
  await fleet.release('n1', 's1', { silent: true });
  await fleet.leave('n1', 'l1');
  await fleet.hasOthers('d1');

  const limiter = createRateLimiter({
    redis,
    prefix,
    monotonicMs: () => performance.now(),
    logger,
  });
  const policy = { perSecond: 1, burst: 2 };
  expect(await limiter.take('one', policy)).toMatchObject({ allowed: true });
  await limiter.giveBack('one', policy);

  const board = createSurgeBoard({ redis, prefix });
  const smoothed = { micros: 1_000_000n, atMs: 1 };
  expect(await board.publish({ after: null, smoothed, multiplierMicros: 1_000_000n })).toBe(true);

  const facts = { version: '1', schema: '1', poolMax: 1 };
  const presence = announceService({ redis, prefix, service: 'gateway', facts, logger });
  expect(
    await waitUntil(async () => (await listServices(redis, prefix)).length > 0, {
      timeoutMs: boundMs,
    }),
  ).toBe(true);
  await presence.close();
  await createProducer({ redis, prefix }).joinWaitingWakeUp(['t1']);
  await callLogLevelScripts(redis, logger);
  await refuseOtherEnvironment();
}

const refuse = (reason: string): never => {
  throw new Error(reason);
};

/**
 * Deletes the mark `svc:environment` while a production guard is connected. A sandbox guard then
 * runs both scripts of `guardRedis`: one sets the mark, and the other deletes it again.
 */
async function refuseOtherEnvironment(): Promise<void> {
  const options = { redisUrl: clusterUrl, logger: quiet, intervalMs: 60_000 };
  const guard = await guardRedis({ ...options, refuse, environment: 'production' });
  await cluster.direct.del('svc:environment');
  const other = guardRedis({ ...options, refuse, environment: 'sandbox' });
  await expect(other).rejects.toThrow('belongs to production');
  await guard.close();
}

test('every queue, reply and message works in a cluster, and no key is in another slot', async () => {
  const redis = await connect('producer');
  const producer = createProducer({ redis, prefix, logger: quiet });
  const handled: string[] = [];
  const job = settlementJob();
  await enqueueSettlements(producer, job.submissionIds);
  await announceDeliveries(producer, ['00000000-0000-4000-8000-000000000001']);
  await announceDeliveries(producer, ['00000000-0000-4000-8000-000000000002']);
  expect(await takeWakeUpTenants(redis, prefix)).toHaveLength(1);
  const replies = createReplyListener({
    redisUrl: clusterUrl,
    prefix,
    name: 'g1',
    isProof: () => false,
    logger: quiet,
  });
  await producer.enqueue(
    'dispatch',
    { ...settlementJob(), replyTo: replies.channel },
    { priority: 1 },
  );
  expect(await readQueueStatus(redis, prefix)).toHaveLength(3);
  const consumer = createConsumer({
    redisUrl: clusterUrl,
    prefix,
    queue: 'settlement',
    logger: quiet,
    handle: async ({ submissionIds }) => void handled.push(...submissionIds),
  });
  expect(await waitUntil(() => handled.length > 0, { timeoutMs: boundMs })).toBe(true);
  await consumer.close();

  await waitUntil(() => replies.isListening(), { timeoutMs: boundMs });
  const reply = replies.wait('s1', boundMs);
  await publishReplies(redis, replies.channel, [{ submissionId: 's1', news: 'look' }]);
  expect(await reply).toBe('look');
  await replies.close();

  const bus = createDispatcherBus({
    redis,
    redisUrl: clusterUrl,
    prefix,
    dispatcherId: 'd1',
    onMessage: () => {},
    logger: quiet,
  });
  expect(await bus.listening(boundMs)).toBe(true);
  const sender = createDispatcherBus({
    redis,
    redisUrl: clusterUrl,
    prefix,
    dispatcherId: 'd2',
    onMessage: () => {},
    logger: quiet,
  });
  const revoke = { kind: 'revoke_offer', nodeId: 'n', offerId: 'o' } as const;
  expect(await sender.send('d1', revoke)).toBe(true);
  expect(await sender.send('nobody', revoke)).toBe(false);
  await Promise.all([bus.close(), sender.close(), producer.close()]);
  const slot = await cluster.direct.cluster('KEYSLOT', clusterKey);
  const marked = await cluster.direct.exists('svc:environment');
  expect(await cluster.direct.cluster('COUNTKEYSINSLOT', slot)).toBe(
    (await cluster.direct.dbsize()) - marked,
  );
});

test('the mark and the health of a cluster are read from their masters', async () => {
  const redis = await connect('producer');
  await cluster.direct.set('svc:environment', 'sandbox');
  expect(await environmentOfRedis(redis, clusterUrl)).toBe('sandbox');
  const health = await readClusterHealth(clusterUrl);
  expect(health).toMatchObject({
    masters: [{ health: { maxmemoryPolicy: 'noeviction', isAppendOnly: true } }],
    slotsOwned: 2,
  });
  expect(await readClusterHealth(cluster.serverUrl)).toBeNull();
});

test('a connection waits while no server owns its slot, and subscribes again afterwards', async () => {
  const [producer, subscriber] = await Promise.all([connect('producer'), connect('subscriber')]);
  const received: string[] = [];
  const channel = `${clusterKey}:news`;
  subscriber.on('message', (_channel: string, message: string) => received.push(message));
  await subscriber.subscribe(channel);
  const slot = await cluster.direct.cluster('KEYSLOT', clusterKey);
  await cluster.direct.cluster('DELSLOTS', slot);
  await expect(producer.get(`${clusterKey}:any`)).rejects.toThrow('CLUSTERDOWN');
  expect(await waitUntil(() => subscriber.status !== 'ready', { timeoutMs: boundMs })).toBe(true);
  expect(producer.status).not.toBe('ready');
  await cluster.direct.cluster('ADDSLOTS', slot);
  const arrives = async () => {
    await producer.publish(channel, 'after').catch(() => {});
    return received.includes('after');
  };
  expect(await waitUntil(arrives, { timeoutMs: boundMs })).toBe(true);
}, 40_000);

test('a connection into a cluster whose packets are dropped is replaced', async () => {
  const gate = await createRedisGate(cluster.serverUrl);
  onTestFinished(async () => {
    await cluster.direct.config('SET', 'cluster-announce-port', '0');
    await gate.close();
  });
  await cluster.direct.config('SET', 'cluster-announce-port', new URL(gate.redisUrl).port);
  const [producer, subscriber] = await Promise.all([connect('producer'), connect('subscriber')]);
  const received: string[] = [];
  const channel = `${clusterKey}:news`;
  subscriber.on('message', (_channel: string, message: string) => received.push(message));
  await subscriber.subscribe(channel);
  gate.freeze();
  await expect(pingRedis(producer)).rejects.toThrow('timed out');
  const arrives = async () => {
    await producer.publish(channel, 'after').catch(() => {});
    return received.includes('after');
  };
  expect(await waitUntil(arrives, { timeoutMs: boundMs })).toBe(true);
}, 40_000);

test('a connection that is renewed while it looks for its server connects again', async () => {
  const redis = connectRedis(clusterUrl, 'worker', quiet, { clusterKey });
  onTestFinished(() => closeRedis(redis));
  expect(redis.status).toBe('connecting');
  redis.disconnect(true);
  expect(await waitForRedis(redis, boundMs)).toBe(true);
});

test('the slot of a key is the one that Redis computes', async () => {
  for (const key of ['{svc}:wait', 'svc:environment', '123456789', 'a{b}{c}', '{}x', 'é{']) {
    expect(slotOf(key)).toBe(await cluster.direct.cluster('KEYSLOT', key));
  }
});

test('a connection that is closed while it looks for its server ends', async () => {
  const redis = connectRedis(clusterUrl, 'worker', quiet, { clusterKey });
  await closeRedis(redis);
  expect(redis.status).toBe('end');
});

test('a connection into a cluster without a key is refused', () => {
  expect(() => connectRedis(clusterUrl, 'producer')).toThrow('needs a clusterKey');
});
