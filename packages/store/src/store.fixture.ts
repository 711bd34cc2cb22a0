import { randomBytes, randomUUID } from 'node:crypto';
import { microsPerCredit, parseDecimal, type Tier, type Usage, type UsageUnit } from '@svc/domain';
import { createSealer, openKeyring } from '@svc/signing';
import {
  advanceDatabaseClock,
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
  testAuthor,
  testMasterKey,
} from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from './connection/store.ts';
import { claimDue, type ClaimedAttempt } from './deliveries/claims.ts';
import { exhaustAgedRounds, findAgedRounds } from './deliveries/deliveries.ts';
import { takeLinkEpoch } from './nodes/links.ts';
import { createNode } from './nodes/nodes.ts';
import { assertReady, type EnvironmentName } from './schema/environment.ts';
import { holdSubmission, type HoldOutcome, type NewSubmission } from './submissions/hold.ts';
import { createTenant } from './tenants/create-tenant.ts';
import { findTenantCredentials } from './tenants/credentials.ts';

export { offersOfStored, type StoredOffer } from './schema/offer-texts.ts';

/** A store on a separate database for the test, with the functions that store tests use most. */
export interface Fixture {
  readonly store: Store;
  readonly database: TestDatabase;
  /**
   * Creates a tenant and returns its id. Default: 1,000 credits. Without `webhookUrl`, its events
   * are not sent.
   */
  readonly tenant: (credits?: number, webhookUrl?: string | null) => Promise<string>;
  readonly tenantThrough: (store: Store) => Promise<string>;
  readonly node: () => Promise<string>;
  readonly hold: (
    tenantId: string,
    options?: HoldOptions,
  ) => Promise<{ id: string; outcome: HoldOutcome }>;
  readonly advance: (ms: number) => Promise<void>;
  readonly figures: (tenantId: string) => Promise<{ balance: number; held: number }>;
  readonly state: (id: string) => Promise<string>;
}

interface HoldOptions {
  key?: string;
  tier?: Tier;
  /** Credits to hold. Default: 200. */
  max?: number;
  requestHash?: Uint8Array;
}

const credit = Number(microsPerCredit);

export const tenantWebhookSecret = 'whsec_MQ==';

interface FixtureOptions extends TestDatabaseOptions {
  masterKey?: string;
  environment?: EnvironmentName;
  /** Default: a new one. */
  database?: TestDatabase;
}

export async function createFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await openFixture(options);
  onTestFinished(() => fixture.close());
  return fixture;
}

/**
 * Creates a fixture that the caller closes. Other packages import this function from
 * `@svc/store/fixture`.
 */
export async function openFixture({
  masterKey = testMasterKey(),
  environment = 'sandbox',
  database: given,
  ...databaseOptions
}: FixtureOptions = {}): Promise<Fixture & { readonly close: () => Promise<void> }> {
  const database = given ?? (await createTestDatabase(databaseOptions));
  const keyring = openKeyring(masterKey);
  const store = openStore({
    databaseUrl: database.databaseUrl,
    sealer: createSealer(keyring),
    newId,
  });
  await assertReady(store, environment);
  return {
    store,
    database,
    tenant: (credits, webhookUrl) => newTenant(store, credits, webhookUrl),
    tenantThrough: (other) => newTenant(other),
    async node() {
      const id = newId();
      await createNode(store, { id, name: 'attic', secret: 'nsk_1' }, testAuthor);
      return id;
    },
    async hold(tenantId, options = {}) {
      const submission = await newSubmission(store, tenantId, options);
      return { id: submission.id, outcome: await holdSubmission(store, submission) };
    },
    advance: (ms) => advanceDatabaseClock(database.databaseUrl, ms),
    async figures(tenantId) {
      const [row] = await database.query<{ balance: string; held: string }>(
        'SELECT balance_micros AS balance, held_micros AS held FROM credit_accounts WHERE tenant_id = $1',
        [tenantId],
      );
      return { balance: Number(row?.balance) / credit, held: Number(row?.held) / credit };
    },
    async state(id) {
      const [row] = await database.query<{ state: string }>(
        'SELECT state FROM submissions WHERE id = $1',
        [id],
      );
      return row?.state ?? 'none';
    },
    async close() {
      await store.close();
      await database.close();
    },
  };
}

/**
 * Opens the store of another process, which has rotated: it seals under a new master key, and holds
 * the key of `testMasterKey` too. The caller closes it.
 */
export function openRotated({ store, database }: Pick<Fixture, 'store' | 'database'>): Store {
  const masterKey = `next:${randomBytes(32).toString('base64')},${testMasterKey()}`;
  return openStore({
    databaseUrl: database.databaseUrl,
    sealer: createSealer(openKeyring(masterKey)),
    newId: store.newId,
  });
}

export async function exhaustAged(store: Store): Promise<number> {
  const { candidates } = await findAgedRounds(store, { after: null, limit: 100 });
  return exhaustAgedRounds(
    store,
    candidates.map(({ subjectId }) => subjectId),
  );
}

async function newTenant(
  store: Store,
  credits = 1_000,
  webhookUrl: string | null = null,
): Promise<string> {
  const id = newId();
  const tenant = {
    id,
    name: 'Example Works',
    allowedJobTypes: ['ats.application'],
    webhookUrl,
    hmacSecret: 'hsk_test_1',
    webhookSecret: tenantWebhookSecret,
  };
  await createTenant(store, tenant, BigInt(credits * credit), testAuthor);
  return id;
}

export async function claimFor(store: Store, tenantId: string): Promise<ClaimedAttempt[]> {
  const [claim] = await claimDue(store, [{ tenantId, attemptsMax: 100 }]);
  return claim?.attempts ?? [];
}

/** Takes the epoch of a new link of a node whose secret was never rotated. */
export async function newLinkEpoch(store: Store, nodeId: string): Promise<number> {
  const linkEpoch = await takeLinkEpoch(store, { nodeId, secretVersion: 1 });
  if (linkEpoch === null) throw new Error('the node is unknown or disabled, or has a later secret');
  return linkEpoch;
}

export async function newSubmission(
  store: Store,
  tenantId: string,
  { key = randomUUID(), tier = 'standard', max = 200, requestHash }: HoldOptions = {},
): Promise<NewSubmission> {
  const tenant = await findTenantCredentials(store, tenantId);
  const maxMicros = BigInt(max * credit);
  return {
    id: newId(),
    tenantId,
    idempotencyKey: key,
    requestHash: requestHash ?? randomBytes(32),
    requestId: 'req-1',
    jobType: 'ats.application',
    tier,
    payloadText: '{"applicationUrl":"https://jobs.example.com/1"}',
    quote: {
      estimatedMicros: maxMicros / 4n,
      maxMicros,
      surgeMicros: microsPerCredit,
      rateCardVersion: tenant?.rateCardVersion ?? 0,
    },
  };
}

/** Makes a UUIDv7 with the current time. */
function newId(): string {
  const hex = Date.now().toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${random.slice(15, 18)}-${random.slice(19)}`;
}

export function usage(amounts: Partial<Record<UsageUnit, string>>): Usage {
  return Object.fromEntries(
    Object.entries(amounts).map(([unit, text]) => [unit, parseDecimal(text)]),
  );
}
