import { randomBytes, randomUUID } from 'node:crypto';
import { parseDecimal } from '@svc/domain';
import { closeRedis, connectRedis, createProducer, waitForRedis } from '@svc/queue';
import { createLogger, newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import {
  commitDispatched,
  commitRunning,
  createNode,
  createTenant,
  currentRateCard,
  holdSubmission,
  openStore,
  storeOutcome,
  type Store,
} from '@svc/store';
import {
  createTestDatabase,
  setDatabaseClockOffset,
  startTestRedis,
  testMasterKey,
  type TestDatabase,
  type TestDatabaseOptions,
  type TestRedis,
  testAuthor,
} from '@svc/testkit';
import type { ReconcileDeps } from './reconcile.ts';

/** Submissions in every state up to `settling`, on real servers. */
export interface SettlementFixture {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  readonly store: Store;
  readonly deps: ReconcileDeps;
  /** The values that were counted, in order. */
  readonly counted: string[];
  readonly tenant: (options?: { webhookUrl?: string; credits?: number }) => Promise<string>;
  /** Holds credits and then moves the submission to the state `upTo`. */
  readonly submission: (
    tenantId: string,
    upTo: 'pending' | 'dispatched' | 'running' | 'settling',
  ) => Promise<string>;
  readonly advance: (ms: number) => Promise<void>;
  readonly stateOf: (submissionId: string) => Promise<{ state: string; failure: string | null }>;
  /** In credits. */
  readonly figures: (tenantId: string) => Promise<{ balance: number; held: number }>;
  readonly close: () => Promise<void>;
}

const microsPerCredit = 1_000_000;
/** Well above the low-balance threshold; below it there would be one more event. */
export const grantedCredits = 5_000;
export const heldCredits = 200;
export const silent = createLogger({ service: 'settlement', level: 'silent' });

export async function createSettlementFixture(
  databaseOptions: TestDatabaseOptions = {},
): Promise<SettlementFixture> {
  const database = await createTestDatabase(databaseOptions);
  const redis = await startTestRedis();
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  const connection = connectRedis(redis.redisUrl, 'producer', silent);
  await waitForRedis(connection, 5_000);
  const producer = createProducer({ redis: connection, prefix: 'test', logger: silent });
  const counted: string[] = [];
  let offsetMs = 0;
  return {
    database,
    redis,
    store,
    deps: {
      store,
      producer,
      logger: silent,
      redis: connection,
      redisPrefix: 'test',
      countSettled: (state) => void counted.push(state),
      countUsageCapped: (state) => void counted.push(`capped ${state}`),
      countReconciled: (kind) => void counted.push(kind),
    },
    counted,
    tenant: ({ webhookUrl, credits } = {}) =>
      createFundedTenant(store, webhookUrl ?? null, credits ?? grantedCredits),
    async submission(tenantId, upTo) {
      const submissionId = await hold(store, tenantId);
      if (upTo !== 'pending') await moveTo(store, submissionId, upTo);
      return submissionId;
    },
    async advance(ms) {
      offsetMs += ms;
      await setDatabaseClockOffset(database.databaseUrl, offsetMs);
    },
    async stateOf(submissionId) {
      const [row] = await database.query<{ state: string; failure: string | null }>(
        'SELECT state, failure_code AS failure FROM submissions WHERE id = $1',
        [submissionId],
      );
      if (row === undefined) throw new Error('no such submission');
      return row;
    },
    async figures(tenantId) {
      const [row] = await database.query<{ balance: string; held: string }>(
        'SELECT balance_micros AS balance, held_micros AS held FROM credit_accounts WHERE tenant_id = $1',
        [tenantId],
      );
      return {
        balance: Number(row?.balance) / microsPerCredit,
        held: Number(row?.held) / microsPerCredit,
      };
    },
    async close() {
      await producer.close();
      await closeRedis(connection);
      await store.close();
      await redis.close();
      await database.close();
    },
  };
}

async function createFundedTenant(
  store: Store,
  webhookUrl: string | null,
  credits: number,
): Promise<string> {
  const id = newId();
  await createTenant(
    store,
    {
      id,
      name: 'Example Works',
      allowedJobTypes: ['ats.application'],
      webhookUrl,
      hmacSecret: 'hsk_test_1',
      webhookSecret: 'whsec_MQ==',
    },
    BigInt(credits * microsPerCredit),
    testAuthor,
  );
  return id;
}

async function hold(store: Store, tenantId: string): Promise<string> {
  const id = newId();
  const card = await currentRateCard(store, tenantId);
  const outcome = await holdSubmission(store, {
    id,
    tenantId,
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    requestId: 'req-1',
    jobType: 'ats.application',
    tier: 'standard',
    payloadText: '{"applicationUrl":"https://jobs.example.com/1"}',
    quote: {
      estimatedMicros: 1n,
      maxMicros: BigInt(heldCredits * microsPerCredit),
      surgeMicros: BigInt(microsPerCredit),
      rateCardVersion: card?.version ?? 0,
    },
  });
  if (outcome.kind !== 'held') throw new Error(outcome.kind);
  return id;
}

async function moveTo(
  store: Store,
  submissionId: string,
  upTo: 'dispatched' | 'running' | 'settling',
): Promise<void> {
  const nodeId = newId();
  await createNode(store, { id: nodeId, name: 'attic', secret: 'nsk_1' }, testAuthor);
  await commitDispatched(store, { submissionId, nodeId });
  if (upTo === 'dispatched') return;
  await commitRunning(store, { submissionId, nodeId });
  if (upTo === 'running') return;
  const actions = parseDecimal('10');
  if (actions === undefined) throw new Error('no decimal');
  // 20 + 0.5 × 10 = 25 credits by the default rate card.
  await storeOutcome(store, {
    submissionId,
    nodeId,
    outcome: { kind: 'completed', usage: { actions }, result: {} },
  });
}
