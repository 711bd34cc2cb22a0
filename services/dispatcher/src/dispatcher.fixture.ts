import { randomBytes, randomUUID } from 'node:crypto';

import {
  fromWireId,
  microsPerCredit,
  toWireId,
  type OfferRecord,
  type RatePolicy,
  type Tier,
  slotsMaxMax,
} from '@svc/domain';
import {
  closeRedis,
  connectRedis,
  createProducer,
  createReplyListener,
  publishCancelled,
  publishNodeChanged,
  waitForRedis,
  type Producer,
  type ReplyListener,
} from '@svc/queue';
import { type Clock, createLogger, loadConfig, newId, systemClock } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  assertReady,
  createNode,
  openTenant,
  holdSubmission,
  openStore,
  type Store,
} from '@svc/store';
import {
  advanceDatabaseClock,
  connectScriptedNode,
  createTestDatabase,
  lockSubmission,
  startTestRedis,
  testMasterKey,
  waitUntil,
  type ScriptedNode,
  type ScriptedNodeOptions,
  type TestDatabase,
  type TestRedis,
  testAuthor,
} from '@svc/testkit';

import { dispatcherConfig } from './config.ts';
import { run } from './run.ts';
import { systemTimers, type Timers } from './timers.ts';

export type Dispatching = Awaited<ReturnType<typeof startDispatching>>;
export interface Credentials {
  readonly nodeId: string;
  readonly secret: string;
}

const prefix = 'dispatcher-test';

/** Dispatchers in this process, over a real Postgres and Redis, and what stands around them. */
export async function startDispatching({
  dispatchers = 1,
  env = {},
  refusedUpgrades,
}: {
  dispatchers?: number;
  refusedUpgrades?: RatePolicy;
  /** Of every dispatcher, on top of what they share. */
  env?: Readonly<Record<string, string>>;
} = {}) {
  const [database, server] = await Promise.all([createTestDatabase(), startTestRedis()]);
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  await assertReady(store, env['SVC_ENVIRONMENT'] === 'production' ? 'production' : 'sandbox');
  const redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  const producer = createProducer({ redis, prefix });
  const replies = createReplyListener({ redisUrl: server.redisUrl, prefix, name: newId() });
  await waitUntil(() => replies.isListening());
  const time = movableTime();
  const start = () => startDispatcher({ database, server, time, env, refusedUpgrades });
  const running = await Promise.all(Array.from({ length: dispatchers }, start));
  const tenantId = await createFundedTenant(store);
  const offered: Promise<unknown>[] = [];
  const linked: ScriptedNode[] = [];
  const context = { store, producer, replies, tenantId, clock: time.clock };
  return {
    store,
    database,
    redis,
    prefix,
    clock: time.clock,
    links: running.map(({ port }) => `ws://127.0.0.1:${port}`),
    close: (index: number) => running[index]?.close(),
    /** What Prometheus reads from a dispatcher. */
    async metrics(index: number): Promise<string> {
      const address = `http://127.0.0.1:${running[index]?.adminPort}/metrics`;
      return await (await fetch(address)).text();
    },
    newNode: (slotsMax?: number) => newNode(store, slotsMax),
    /** A node with credentials of its own, linked to the dispatcher of that index. */
    async connect(options: Partial<ScriptedNodeOptions> & { dispatcher?: number } = {}) {
      const { dispatcher = 0, ...rest } = options;
      const scheme = env['NODE_LINK_TLS_CERT_FILE'] === undefined ? 'ws' : 'wss';
      const link = `${scheme}://127.0.0.1:${running[dispatcher]?.port}`;
      const node = await connectScriptedNode({ link, ...(await newNode(store)), ...rest });
      linked.push(node);
      return node;
    },
    /** Holds a submission and has it dispatched; `replied` is when the gateway would be told. */
    async post(options?: PostOptions) {
      const posted = await post(context, options);
      offered.push(posted.replied);
      return posted;
    },
    /** Nothing of an earlier test is offered to the nodes of a later one, or by its nodes taken. */
    async settled() {
      await Promise.all(linked.splice(0).map((node) => node.cut()));
      await Promise.all(offered.splice(0));
    },
    cancelled: (submissionId: string) => publishCancelled(redis, prefix, submissionId),
    advance: (ms: number) => advanceDatabaseClock(database.databaseUrl, ms),
    flush: () => server.flush(),
    /** What an operator has changed of a node is told to the dispatchers, as `svc` does. */
    told: (node: { nodeId: string }) => publishNodeChanged(redis, prefix, uuidOf(node.nodeId)),
    lockRow: (id: string) => lockSubmission(database.databaseUrl, id),
    async row(id: string): Promise<SubmissionRow | undefined> {
      const [row] = await database.query<SubmissionRow>(
        `SELECT state, node_id, failure_code, usage_actions::float8 AS actions
         FROM submissions WHERE id = $1`,
        [id],
      );
      return row;
    },
    async heldAt(id: string): Promise<Date> {
      const [row] = await database.query<{ created_at: Date }>(
        'SELECT created_at FROM submissions WHERE id = $1',
        [id],
      );
      if (row === undefined) throw new Error('no such submission');
      return row.created_at;
    },
    /** What the row says of its offers, with nodes as on the wire. */
    async offers(id: string) {
      const [row] = await database.query<{ offers: readonly OfferRecord[] | null }>(
        'SELECT offers FROM submissions WHERE id = $1',
        [id],
      );
      const records = row?.offers ?? [];
      return records.map((one) => ({ ...one, nodeId: toWireId('nod', one.nodeId) }));
    },
    async queued(queue: 'settlement.v1' | 'webhook.v1') {
      return await redis.llen(`{${prefix}}:${queue}:wait`);
    },
    async end() {
      await Promise.all(running.map((dispatcher) => dispatcher.close()));
      await replies.close();
      await producer.close();
      await closeRedis(redis);
      await store.close();
      await database.close();
      await server.close();
    },
  };
}

export interface SubmissionRow {
  readonly [column: string]: unknown;
  readonly state: string;
  readonly node_id: string | null;
  readonly failure_code: string | null;
  readonly actions: number | null;
}

/** The UUID of a node's id on the wire. */
export function uuidOf(nodeId: string): string {
  const id = fromWireId('nod', nodeId);
  if (id === undefined) throw new Error('not the id of a node');
  return id;
}

type MovableTime = ReturnType<typeof movableTime>;

/** A clock that runs and can be moved on, and timers that are due when it has been. */
function movableTime() {
  let offsetMs = 0;
  const waiting = new Set<{ readonly dueAtMs: number; readonly ring: () => void }>();
  const monotonicMs = (): number => systemClock.monotonicMs() + offsetMs;
  const timers: Timers = {
    after(delayMs, wake) {
      const ring = (): void => {
        clear();
        wake();
      };
      const entry = { dueAtMs: monotonicMs() + delayMs, ring };
      const timer = systemTimers.after(delayMs, ring);
      const clear = (): void => {
        waiting.delete(entry);
        timer.clear();
      };
      waiting.add(entry);
      return { clear };
    },
  };
  return {
    timers,
    clock: {
      nowMs: () => systemClock.nowMs() + offsetMs,
      monotonicMs,
      advance(ms: number): void {
        offsetMs += ms;
        for (const { dueAtMs, ring } of waiting) if (dueAtMs <= monotonicMs()) ring();
      },
    },
  };
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

async function createFundedTenant(store: Store): Promise<string> {
  const tenantId = newId();
  await openTenant(
    store,
    {
      id: tenantId,
      name: 'Example Works',
      allowedJobTypes: ['ats.application'],
      webhookUrl: null,
      hmacSecret: 'hsk_test_1',
      webhookSecret: 'whsec_MQ==',
    },
    1_000_000n * microsPerCredit,
    testAuthor,
  );
  return tenantId;
}

async function newNode(store: Store, slotsMax = slotsMaxMax): Promise<Credentials> {
  const id = newId();
  const secret = `nsk_${randomUUID()}`;
  await createNode(store, { id, name: 'attic', secret, slotsMax }, testAuthor);
  return { nodeId: toWireId('nod', id), secret };
}

export interface PostOptions {
  readonly tier?: Tier;
  readonly payloadText?: string;
  /** What is held; for a submission that is settled, what its rate card says. */
  readonly maxMicros?: bigint;
  /** The job says what is to be offered: with this host, and of so long ago by the fixture's clock. */
  readonly says?: { readonly targetHost: string; readonly agoMs: number };
  /** Between the hold and the job. */
  readonly meanwhile?: (id: string) => Promise<unknown>;
}

export const payloadText =
  '{"applicationUrl":"https://Jobs.Example.com:8443/apply?x=1","atsType":"greenhouse","applicantProfile":{"z":12345678901234567890.10,"name":"Ana"},"jobContext":{"title":"Welder","company":"Example Works"}}';

async function post(
  context: {
    store: Store;
    producer: Producer;
    replies: ReplyListener;
    tenantId: string;
    clock: Clock;
  },
  options: PostOptions = {},
) {
  const { store, producer, replies, tenantId, clock } = context;
  const id = newId();
  const held = await holdSubmission(store, {
    id,
    tenantId,
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    requestId: `req-${id}`,
    jobType: 'ats.application',
    tier: options.tier ?? 'instant',
    payloadText: options.payloadText ?? payloadText,
    quote: {
      estimatedMicros: microsPerCredit,
      maxMicros: options.maxMicros ?? 10n * microsPerCredit,
      surgeMicros: microsPerCredit,
      rateCardVersion: 1,
    },
  });
  if (held.kind !== 'held') throw new Error(`not held: ${held.kind}`);
  const replied = replies.wait(id, 8_000);
  await options.meanwhile?.(id);
  const { says, tier = 'instant' } = options;
  const facts = { jobType: 'ats.application', tier, requestId: `req-${id}` };
  await producer.enqueue('dispatch', {
    submissionIds: [id],
    replyTo: replies.channel,
    ...(says === undefined
      ? {}
      : {
          held: {
            sentAtMs: Math.round(clock.nowMs() - says.agoMs),
            each: [{ heldAtMs: held.heldAtMs, facts: { ...facts, targetHost: says.targetHost } }],
          },
        }),
  });
  return { id, wireId: toWireId('sub', id), replied };
}

/** Everything that a node was told of one submission, by type. */
export function toldOf(node: ScriptedNode): string[] {
  return node.frames.map(({ type }) => type);
}
