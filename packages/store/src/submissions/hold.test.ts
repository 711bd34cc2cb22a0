import { expect, test } from 'vitest';
import { cancelSubmission, rejectPending } from '../endings/endings.ts';
import { auditLedger } from '../ledger/ledger-audit.ts';
import { createFixture, type Fixture, newSubmission } from '../store.fixture.ts';
import { holdSubmissions } from './hold.ts';
import { findByIdempotencyKey } from './submissions.ts';

interface HoldRequest {
  tenant: number;
  key: number;
  max: number;
}

async function place(fixture: Fixture, tenants: string[], requests: readonly HoldRequest[]) {
  const submissions = await Promise.all(
    requests.map(({ tenant, key, max }) =>
      newSubmission(fixture.store, tenants[tenant] ?? '', { key: `${key}`, max }),
    ),
  );
  const outcomes = await holdSubmissions(fixture.store, submissions);
  return outcomes.map((outcome) =>
    outcome.kind === 'held' ? `held ${Number(outcome.availableAfterMicros) / 1e6}` : outcome.kind,
  );
}

const sixteen = (round: number): HoldRequest[] =>
  Array.from({ length: 16 }, (_, index) => ({
    tenant: (index + round) % 2,
    key: round * 16 + index,
    max: 30,
  }));

test('concurrent batches over the same tenants neither deadlock nor overdraw', async () => {
  const fixture = await createFixture();
  const tenants = await Promise.all([fixture.tenant(1_000), fixture.tenant(1_000)]);
  const rounds = await Promise.all(
    Array.from({ length: 10 }, (_, round) => place(fixture, tenants, sixteen(round))),
  );
  const held = rounds.flat().filter((kind) => kind.startsWith('held'));
  expect(held).toHaveLength(66);
  for (const id of tenants) {
    expect(await fixture.figures(id)).toEqual({ balance: 1_000, held: 990 });
  }
});

test('the figures after each hold are exact inside a batch', async () => {
  const fixture = await createFixture();
  const tenantId = await fixture.tenant(100);
  const requests = [60, 50, 30, 20, 10].map((max, key) => ({ tenant: 0, key, max }));
  const placed = await place(fixture, [tenantId], requests);
  expect(placed).toEqual([
    'held 40',
    'insufficient_credits',
    'held 10',
    'insufficient_credits',
    'held 0',
  ]);
  const entries = await fixture.database.query(
    `SELECT amount_micros / 1000000 AS amount, held_after_micros / 1000000 AS held, balance_after_micros / 1000000 AS balance
     FROM ledger_entries WHERE type = 'hold' ORDER BY sequence`,
  );
  expect(entries).toEqual([
    { amount: '60', held: '60', balance: '100' },
    { amount: '30', held: '90', balance: '100' },
    { amount: '10', held: '100', balance: '100' },
  ]);
});

test('a key that another batch takes at the same moment fails no other hold', async () => {
  const fixture = await createFixture();
  const tenantId = await fixture.tenant(100_000);
  const holds = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      fixture.hold(tenantId, { key: `${index % 40}`, max: 1 }),
    ),
  );
  expect(holds.filter(({ outcome }) => outcome.kind === 'held')).toHaveLength(40);
  expect(holds.filter(({ outcome }) => outcome.kind === 'key_taken')).toHaveLength(160);
  expect(await fixture.figures(tenantId)).toEqual({ balance: 100_000, held: 40 });
  expect(await findByIdempotencyKey(fixture.store, tenantId, '7')).not.toBeNull();
});

test('a tenant at its limit in flight waits until a submission has ended, however it ends', async () => {
  const { store, tenant, hold, database, figures } = await createFixture();
  const tenantId = await tenant(10_000);
  const limited = (max: number | null) =>
    database.query('UPDATE credit_accounts SET in_flight_max = $1', [max]);
  const inFlight = async () => {
    const [row] = await database.query<{ n: number }>('SELECT in_flight AS n FROM credit_accounts');
    return row?.n;
  };
  await limited(2);
  const held = [
    await hold(tenantId, { key: 'a' }),
    await hold(tenantId, { key: 'b' }),
    await hold(tenantId, { key: 'c' }),
  ];
  expect(held.map(({ outcome }) => outcome.kind)).toEqual(['held', 'held', 'in_flight_max']);
  expect(await inFlight()).toBe(2);
  expect(await figures(tenantId)).toMatchObject({ held: 400 });
  // A repeated key is found before the limit of submissions in flight is checked.
  expect((await hold(tenantId, { key: 'a' })).outcome.kind).toBe('key_taken');
  await rejectPending(store, held[0]?.id ?? '', { onlyOverdue: false });
  expect(await inFlight()).toBe(1);
  expect((await hold(tenantId, { key: 'c' })).outcome.kind).toBe('held');
  await cancelSubmission(store, { submissionId: held[1]?.id ?? '', tenantId, by: 'tenant' });
  expect(await inFlight()).toBe(1);
  // An operator may set the limit below the number in flight. Null means no limit.
  await hold(tenantId, { key: 'd' });
  await limited(1);
  expect((await hold(tenantId, { key: 'e' })).outcome.kind).toBe('in_flight_max');
  await limited(null);
  expect((await hold(tenantId, { key: 'e' })).outcome.kind).toBe('held');
});

test('only the hold above the limit is refused, not the others in its batch', async () => {
  const { store, tenant, database } = await createFixture();
  const [limited, free] = [await tenant(10_000), await tenant(10_000)];
  await database.query('UPDATE credit_accounts SET in_flight_max = 1 WHERE tenant_id = $1', [
    limited,
  ]);
  const of = (tenantId: string) => newSubmission(store, tenantId);
  const batch = [await of(limited), await of(free), await of(limited), await of(free)];
  const outcomes = await holdSubmissions(store, batch);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['held', 'held', 'in_flight_max', 'held']);
  expect((await auditLedger(store)).faults).toEqual([]);
});
