import { dispatchDeadlineMs } from '@svc/domain';
import { openDatabaseGate, type DatabaseGate } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { rateCardOfVersion } from '../pricing/pinned-cards.ts';
import { typicalUsage } from '../pricing/rate-cards.ts';
import { createFixture, type Fixture, newSubmission } from '../store.fixture.ts';
import { type HoldOutcome, holdSubmission } from '../submissions/hold.ts';
import { isUnavailable } from './errors.ts';
import { openStore, type Store } from './store.ts';

let fixture: Fixture;
let gate: DatabaseGate;
let store: Store;

beforeEach(async () => {
  fixture = await createFixture();
  gate = await openDatabaseGate(fixture.database.databaseUrl);
  const { sealer, newId } = fixture.store;
  store = openStore({ databaseUrl: gate.databaseUrl, sealer, newId });
  onTestFinished(async () => {
    await store.close();
    await gate.close();
  });
});

async function placeAtOnce(tenantId: string, keys: readonly string[], max = 200) {
  const submissions = await Promise.all(
    keys.map((key) => newSubmission(fixture.store, tenantId, { key, max })),
  );
  const outcomes = await Promise.allSettled(submissions.map((one) => holdSubmission(store, one)));
  return submissions.map(({ id }, index) => ({ id, outcome: outcomes[index] }));
}

const heldWith = (availableAfterMicros: bigint): PromiseFulfilledResult<HoldOutcome> => ({
  status: 'fulfilled',
  value: { kind: 'held', availableAfterMicros, heldAtMs: expect.any(Number) },
});

test('holds whose answer was lost are recognised as held, each with its own figures', async () => {
  const tenantId = await fixture.tenant(500);
  gate.loseAnswerTo('key-2');
  const placed = await placeAtOnce(tenantId, ['key-1', 'key-2', 'key-3']);
  expect(placed.map(({ outcome }) => outcome)).toEqual([
    heldWith(300_000_000n),
    heldWith(100_000_000n),
    { status: 'fulfilled', value: { kind: 'insufficient_credits' } },
  ]);
  expect(await fixture.figures(tenantId)).toEqual({ balance: 500, held: 400 });
});

test('a hold whose answer was lost is held from the moment of its commit', async () => {
  const tenantId = await fixture.tenant();
  gate.loseAnswerTo('key-1');
  const [placed] = await placeAtOnce(tenantId, ['key-1']);
  const [row] = await fixture.database.query<{ ms: string }>(
    'SELECT (extract(epoch FROM created_at) * 1000)::bigint AS ms FROM submissions WHERE id = $1',
    [placed?.id],
  );
  expect(placed?.outcome).toMatchObject({ value: { kind: 'held', heldAtMs: Number(row?.ms) } });
});

test('a key of another submission is taken, even if the answer was lost', async () => {
  const tenantId = await fixture.tenant();
  await fixture.hold(tenantId, { key: 'key-1' });
  gate.loseAnswerTo('key-1');
  const [placed] = await placeAtOnce(tenantId, ['key-1']);
  expect(placed?.outcome).toEqual({ status: 'fulfilled', value: { kind: 'key_taken' } });
});

test('a hold that was rejected before its retry is not held', async () => {
  const tenantId = await fixture.tenant();
  await fixture.database.query(`
    CREATE FUNCTION reject_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.state := 'rejected'; NEW.finished_at := svc_now(); RETURN NEW; END $$`);
  await fixture.database.query(
    `CREATE TRIGGER reject_at_once BEFORE INSERT ON submissions FOR EACH ROW
     WHEN (NEW.idempotency_key = 'key-1') EXECUTE FUNCTION reject_at_once()`,
  );
  gate.loseAnswerTo('key-1');
  const [placed] = await placeAtOnce(tenantId, ['key-1']);
  expect(placed?.outcome).toEqual({ status: 'fulfilled', value: { kind: 'key_taken' } });
});

test('while Postgres is silent, forty holds are rejected together within the dispatch deadline', async () => {
  const tenantId = await fixture.tenant(10_000);
  await placeAtOnce(tenantId, ['warm']);
  gate.stall();
  const startedMs = performance.now();
  const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
  const placed = await placeAtOnce(tenantId, keys);
  expect(performance.now() - startedMs).toBeLessThan(2 * dispatchDeadlineMs);
  expect(new Set(placed.map(({ outcome }) => outcome?.status))).toEqual(new Set(['rejected']));
});

test('while Postgres is silent, a price is rejected within the dispatch deadline too', async () => {
  await fixture.tenant();
  gate.stall();
  const startedMs = performance.now();
  const asked = await Promise.allSettled([
    typicalUsage(store, 'ats.application'),
    rateCardOfVersion(store, 1),
  ]);
  expect(performance.now() - startedMs).toBeLessThan(2 * dispatchDeadlineMs);
  // `databaseConnectTimeoutMsDefault` and `dispatchDeadlineMs` are equal, so a call may reject with
  // the error of either time limit. `isUnavailable` is true for both errors.
  for (const one of asked) {
    expect(one.status === 'rejected' && isUnavailable(one.reason)).toBe(true);
  }
});
