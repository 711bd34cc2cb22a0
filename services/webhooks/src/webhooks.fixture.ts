import { randomBytes, randomUUID } from 'node:crypto';
import { closeRedis, connectRedis, createProducer, waitForRedis, type Producer } from '@svc/queue';
import {
  createLogger,
  createOutboundHttp,
  newId,
  systemClock,
  type OutboundHttp,
} from '@svc/runtime';
import { createSealer, newSecret, openKeyring } from '@svc/signing';
import {
  cancelSubmission,
  createTenant,
  currentRateCard,
  holdSubmission,
  openStore,
  type Store,
  responsePlace,
} from '@svc/store';
import {
  createTestDatabase,
  createWebhookReceiver,
  setDatabaseClockOffset,
  startTestRedis,
  testMasterKey,
  type TestDatabase,
  type TestRedis,
  type WebhookReceiver,
  testAuthor,
} from '@svc/testkit';
import type { DelivererDeps } from './deliverer.ts';

/** Deliveries to a real endpoint, on real servers. */
export interface WebhooksFixture {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  readonly receiver: WebhookReceiver;
  readonly deps: DelivererDeps;
  readonly producer: Producer;
  readonly secret: string;
  readonly tenant: (webhookUrl?: string) => Promise<string>;
  /** Creates an event of the tenant that is committed and due: a cancelled submission. */
  readonly delivery: (tenantId: string) => Promise<string>;
  readonly advance: (ms: number) => Promise<void>;
  readonly read: (deliveryId: string) => Promise<DeliveryRow>;
  readonly attempts: (deliveryId: string) => Promise<AttemptRow[]>;
  readonly close: () => Promise<void>;
}

interface DeliveryRow {
  readonly status: string;
  readonly attempt_count: number;
  /** Milliseconds until the next attempt. */
  readonly due_in_ms: number | null;
}

interface AttemptRow {
  readonly number: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

interface SealedAttemptRow extends Omit<AttemptRow, 'response'> {
  readonly round: number;
  readonly tenant_id: string;
  readonly response_sealed: Uint8Array | null;
}

export const silent = createLogger({ service: 'webhooks', level: 'silent' });
const microsPerCredit = 1_000_000n;

export async function createWebhooksFixture(): Promise<WebhooksFixture> {
  const database = await createTestDatabase();
  const redis = await startTestRedis();
  const receiver = await createWebhookReceiver();
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
  const connection = connectRedis(redis.redisUrl, 'producer', silent);
  await waitForRedis(connection, 5_000);
  const producer = createProducer({ redis: connection, prefix: 'test', logger: silent });
  const http: OutboundHttp = createOutboundHttp({
    allowPrivateNetworks: true,
    monotonicMs: () => systemClock.monotonicMs(),
  });
  const secret = newSecret('whsec', randomBytes);
  let offsetMs = 0;
  return {
    database,
    redis,
    receiver,
    secret,
    producer,
    deps: {
      store,
      http,
      endpointRequestsMax: 8,
      backoffSeconds: [5, 60, 300, 900, 2400, 7200, 18_000],
      clock: systemClock,
      random: () => 0.5,
      logger: silent,
      countAttempt: () => {},
    },
    tenant: (webhookUrl = receiver.url) => createFundedTenant(store, webhookUrl, secret),
    delivery: (tenantId) => createDelivery(store, tenantId),
    async advance(ms) {
      offsetMs += ms;
      await setDatabaseClockOffset(database.databaseUrl, offsetMs);
    },
    async read(deliveryId) {
      const [row] = await database.query<DeliveryRow>(
        `SELECT status, attempt_count,
          (extract(epoch FROM next_attempt_at - svc_now()) * 1000)::float8 AS due_in_ms
        FROM deliveries WHERE id = $1`,
        [deliveryId],
      );
      if (row === undefined) throw new Error('no such delivery');
      return row;
    },
    async attempts(deliveryId) {
      const rows = await database.query<SealedAttemptRow>(
        `SELECT number, round, status_code, error, response_sealed,
          (SELECT tenant_id FROM deliveries d WHERE d.id = delivery_id)
         FROM delivery_attempts WHERE delivery_id = $1 ORDER BY number`,
        [deliveryId],
      );
      return rows.map(({ round, tenant_id: tenantId, response_sealed: sealed, ...row }) => {
        const place = responsePlace({ tenantId, deliveryId, round, number: row.number });
        const response = sealed === null ? null : sealer.unseal(place, sealed);
        return { ...row, response: response === null ? null : Buffer.from(response).toString() };
      });
    },
    async close() {
      http.close();
      await producer.close();
      await closeRedis(connection);
      await store.close();
      await receiver.close();
      await redis.close();
      await database.close();
    },
  };
}

async function createFundedTenant(
  store: Store,
  webhookUrl: string,
  webhookSecret: string,
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
      webhookSecret,
    },
    10_000n * microsPerCredit,
    testAuthor,
  );
  return id;
}

async function createDelivery(store: Store, tenantId: string): Promise<string> {
  const submissionId = newId();
  const card = await currentRateCard(store, tenantId);
  await holdSubmission(store, {
    id: submissionId,
    tenantId,
    idempotencyKey: randomUUID(),
    requestHash: randomBytes(32),
    requestId: 'req-1',
    jobType: 'ats.application',
    tier: 'standard',
    payloadText: '{"applicationUrl":"https://jobs.example.com/1"}',
    quote: {
      estimatedMicros: 1n,
      maxMicros: 200n * microsPerCredit,
      surgeMicros: microsPerCredit,
      rateCardVersion: card?.version ?? 0,
    },
  });
  const cancelled = await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  const [deliveryId] = cancelled.kind === 'cancelled' ? cancelled.deliveryIds : [];
  if (deliveryId === undefined) throw new Error('no delivery');
  return deliveryId;
}
