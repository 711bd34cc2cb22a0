import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

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
import { createNode, holdSubmission, type Store } from '@svc/store';
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
import { run } from './run.ts';
import { systemTimers, type Timers } from './timers.ts';

export type Dispatching = Awaited<ReturnType<typeof startDispatching>>;

/** Starts dispatchers for a test file. Each test leaves them without links and open offers. */
export async function useDispatching(
  options?: Parameters<typeof startDispatching>[0],
): Promise<Dispatching> {
  const service = await startDispatching(options);
  afterAll(() => service.end());
  afterEach(() => service.settled());
  return service;
}

/** A self-signed certificate for a test file: `env` names its files, and `ca` trusts it. */
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

/** Starts dispatchers in this process, with a real Postgres and Redis, a tenant and nodes. */
export async function startDispatching({
  dispatchers = 1,
  env = {},
  refusedUpgrades,
}: {
  dispatchers?: number;
  refusedUpgrades?: RatePolicy;
  /** Extra environment variables for every dispatcher. */
  env?: Readonly<Record<string, string>>;
} = {}) {
  const environment = env['SVC_ENVIRONMENT'] === 'production' ? 'production' : 'sandbox';
  const [fixture, server] = await Promise.all([openFixture({ environment }), startTestRedis()]);
  const { database, store } = fixture;
  const redis = connectRedis(server.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  const producer = createProducer({ redis, prefix });
  const replies = createReplyListener({ redisUrl: server.redisUrl, prefix, name: newId() });
  await waitUntil(() => replies.isListening());
  const time = movableTime();
  const start = () => startDispatcher({ database, server, time, env, refusedUpgrades });
  const running = await Promise.all(Array.from({ length: dispatchers }, start));
  const tenantId = await fixture.tenant(grantedCredits);
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
    /** Starts one more dispatcher. Its index is the number of those before it. */
    async startAnother(): Promise<void> {
      running.push(await start());
    },
    close: (index: number) => running[index]?.close(),
    /** The metrics of a dispatcher, as Prometheus reads them. */
    async metrics(index: number): Promise<string> {
      const address = `http://127.0.0.1:${running[index]?.adminPort}/metrics`;
      return await (await fetch(address)).text();
    },
    newNode: (slotsMax?: number) => newNode(store, slotsMax),
    /** Links a node to the dispatcher with this index. By default it is a new node. */
    async connect(options: Partial<ScriptedNodeOptions> & { dispatcher?: number } = {}) {
      const { dispatcher = 0, ...rest } = options;
      const scheme = env['NODE_LINK_TLS_CERT_FILE'] === undefined ? 'ws' : 'wss';
      const link = `${scheme}://127.0.0.1:${running[dispatcher]?.port}`;
      const node = await connectScriptedNode({ link, ...(await newNode(store)), ...rest });
      linked.push(node);
      return node;
    },
    /** Holds a submission and enqueues its dispatch; `replied` is the reply to the gateway. */
    async post(options?: PostOptions) {
      const posted = await post(context, options);
      offered.push(posted.replied);
      return posted;
    },
    /** Ends the links and waits for the offerings of a test, so that they do not reach the next. */
    async settled() {
      await Promise.all(linked.splice(0).map((node) => node.cut()));
      await Promise.all(offered.splice(0));
    },
    cancelled: (submissionId: string) => publishCancelled(redis, prefix, submissionId),
    advance: (ms: number) => fixture.advance(ms),
    flush: () => server.flush(),
    /** Publishes that an operator has changed a node, as `svc` does. */
    notify: (node: { nodeId: string }) => publishNodeChanged(redis, prefix, uuidOf(node.nodeId)),
    lockRow: (id: string) => lockSubmission(database.databaseUrl, id),
    async stateOf(id: string): Promise<string | undefined> {
      return (await this.row(id))?.state;
    },
    /** Waits until the submission is in this state. Throws if it takes too long. */
    async expectState(id: string, state: string): Promise<void> {
      const isThere = async () => (await this.stateOf(id)) === state;
      await waitUntil(isThere, { what: `the state ${state}` });
    },
    /** True if a submission that is posted now finds a node. */
    async isOffered(): Promise<boolean> {
      const { id, replied } = await this.post();
      await replied;
      return (await this.stateOf(id)) !== 'rejected';
    },
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
    /** The offers recorded in the submission's row, with wire ids of nodes. */
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
      await fixture.close();
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

/** A running clock that a test can move forward, and timers that follow it. */
function movableTime() {
  let offsetMs = 0;
  const waiting = new Set<{ readonly dueAtMs: number; readonly fire: () => void }>();
  const monotonicMs = (): number => systemClock.monotonicMs() + offsetMs;
  const timers: Timers = {
    after(delayMs, callBack) {
      const fire = (): void => {
        clear();
        callBack();
      };
      const entry = { dueAtMs: monotonicMs() + delayMs, fire };
      const timer = systemTimers.after(delayMs, fire);
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
        for (const { dueAtMs, fire } of waiting) if (dueAtMs <= monotonicMs()) fire();
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

async function newNode(store: Store, slotsMax = slotsMaxMax): Promise<Credentials> {
  const id = newId();
  const secret = `nsk_${randomUUID()}`;
  await createNode(store, { id, name: 'attic', secret, slotsMax }, testAuthor);
  return { nodeId: toWireId('nod', id), secret };
}

export interface PostOptions {
  readonly tier?: Tier;
  readonly payloadText?: string;
  /** The hold. A submission that is settled needs the worst case of its rate card. */
  readonly maxMicros?: bigint;
  /** Facts inside the job: this host, sent `agoMs` ago by the fixture's clock. */
  readonly says?: { readonly targetHost: string; readonly agoMs: number };
  /** Runs between the hold and the job. */
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

/** The types of all frames that the node received. */
export function frameTypesOf(node: ScriptedNode): string[] {
  return node.frames.map(({ type }) => type);
}
