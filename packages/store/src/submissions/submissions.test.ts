import { expect, test } from 'vitest';
import { rejectPending } from '../endings/endings.ts';
import { createFixture } from '../store.fixture.ts';
import { findByIdempotencyKey, findSubmission } from './submissions.ts';

test('a hold moves credit from available to held, with its submission and its entry', async () => {
  const { store, tenant, hold, figures, database } = await createFixture();
  const tenantId = await tenant(1_000);
  const { id, outcome } = await hold(tenantId, { max: 200 });
  expect(outcome).toMatchObject({ kind: 'held', availableAfterMicros: 800_000_000n });
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 200 });
  expect(await findSubmission(store, tenantId, id)).toMatchObject({ id, state: 'pending' });
  const entries = await database.query(
    'SELECT type, amount_micros, balance_after_micros, held_after_micros FROM ledger_entries WHERE submission_id = $1',
    [id],
  );
  expect(entries).toEqual([
    {
      type: 'hold',
      amount_micros: '200000000',
      balance_after_micros: '1000000000',
      held_after_micros: '200000000',
    },
  ]);
});

test('a hold above the available credits is refused and changes nothing', async () => {
  const { tenant, hold, figures, database } = await createFixture();
  const tenantId = await tenant(300);
  await hold(tenantId, { max: 200 });
  const { outcome } = await hold(tenantId, { max: 200 });
  expect(outcome).toEqual({ kind: 'insufficient_credits' });
  expect(await figures(tenantId)).toEqual({ balance: 300, held: 200 });
  expect(await database.query('SELECT id FROM submissions')).toHaveLength(1);
});

test('a key is taken while its submission lives, even if the credits would not suffice', async () => {
  const { store, tenant, hold } = await createFixture();
  const tenantId = await tenant(300);
  const first = await hold(tenantId, { key: 'k', max: 200 });
  expect((await hold(tenantId, { key: 'k', max: 200 })).outcome).toEqual({ kind: 'key_taken' });
  expect((await hold(tenantId, { key: 'k', max: 50 })).outcome).toEqual({ kind: 'key_taken' });
  expect(await findByIdempotencyKey(store, tenantId, 'k')).toMatchObject({ id: first.id });
});

test('the same key of another tenant is a different key', async () => {
  const { tenant, hold } = await createFixture();
  const [one, other] = [await tenant(), await tenant()];
  expect((await hold(one, { key: 'k' })).outcome.kind).toBe('held');
  expect((await hold(other, { key: 'k' })).outcome.kind).toBe('held');
});

test('fifty concurrent holds of one key hold once', async () => {
  const { tenant, hold, figures } = await createFixture();
  const tenantId = await tenant(100_000);
  const holds = await Promise.all(
    Array.from({ length: 50 }, () => hold(tenantId, { key: 'k', max: 200 })),
  );
  expect(holds.filter(({ outcome }) => outcome.kind === 'held')).toHaveLength(1);
  expect(holds.filter(({ outcome }) => outcome.kind === 'key_taken')).toHaveLength(49);
  expect(await figures(tenantId)).toEqual({ balance: 100_000, held: 200 });
});

test('concurrent holds never exceed the available credits', async () => {
  const { tenant, hold, figures } = await createFixture();
  const tenantId = await tenant(1_000);
  const holds = await Promise.all(Array.from({ length: 40 }, () => hold(tenantId, { max: 200 })));
  expect(holds.filter(({ outcome }) => outcome.kind === 'held')).toHaveLength(5);
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 1_000 });
});

test('a rejected submission returns its hold and its key, and nobody sees it', async () => {
  const { store, tenant, hold, figures } = await createFixture();
  const tenantId = await tenant(1_000);
  const { id } = await hold(tenantId, { key: 'k' });
  expect(await rejectPending(store, id, { onlyOverdue: false })).toEqual({ kind: 'rejected' });
  expect(await figures(tenantId)).toEqual({ balance: 1_000, held: 0 });
  expect(await findSubmission(store, tenantId, id)).toBeNull();
  expect(await findByIdempotencyKey(store, tenantId, 'k')).toBeNull();
  expect((await hold(tenantId, { key: 'k' })).outcome.kind).toBe('held');
});

test("another tenant's submission is not found", async () => {
  const { store, tenant, hold } = await createFixture();
  const [owner, other] = [await tenant(), await tenant()];
  const { id } = await hold(owner);
  expect(await findSubmission(store, other, id)).toBeNull();
});
