import { expect, test } from 'vitest';
import { commitDispatched } from '../assignments/dispatch.ts';
import { createFixture } from '../store.fixture.ts';

/** Most of these tests try changes that the code never makes. The database must refuse them. */

test.each([
  ['ledger_entries', 'amount_micros = 1'],
  ['audit_log', 'after = NULL'],
  ['audit_chain', 'entry_id = 0'],
  ['rate_cards', "card = '{}'"],
])('rows of %s can be neither changed nor deleted', async (table, change) => {
  const { tenant, database } = await createFixture();
  await tenant();
  for (const sql of [
    `UPDATE ${table} SET ${change}`,
    `DELETE FROM ${table}`,
    `TRUNCATE ${table} CASCADE`,
  ]) {
    await expect(database.query(sql)).rejects.toThrow(`${table} is append-only`);
  }
});

test('the audit log refuses an author without a name', async () => {
  const { database } = await createFixture();
  const insert = (kind: string, id: string, name: string) =>
    database.query(
      `INSERT INTO audit_log (at, actor_kind, actor_id, actor_name, action, subject_kind)
       VALUES (svc_now(), ${kind}, ${id}, ${name}, 'tenant.disable', 'tenant')`,
    );
  for (const [kind, id, name] of [
    ["'operator'", 'NULL', 'NULL'],
    ["'local'", 'NULL', 'NULL'],
    ["'root'", 'NULL', "'root'"],
  ] as const) {
    await expect(insert(kind, id, name)).rejects.toThrow('audit_log_actor');
  }
});

test('no statement can overdraw an account', async () => {
  const { tenant, database } = await createFixture();
  await tenant(100);
  for (const sql of [
    'UPDATE credit_accounts SET held_micros = balance_micros + 1',
    'UPDATE credit_accounts SET held_micros = -1',
    'UPDATE credit_accounts SET balance_micros = -1',
  ]) {
    await expect(database.query(sql)).rejects.toThrow('credit_accounts_no_overdraft');
  }
});

test('a submission is charged once, and never above its hold', async () => {
  const { tenant, hold, database } = await createFixture();
  const { id } = await hold(await tenant());
  const end = (micros: number) =>
    database.query(
      `UPDATE submissions SET state = 'cancelled', cancelled_by = 'tenant', finished_at = svc_now(), charged_micros = ${micros} WHERE id = $1`,
      [id],
    );
  await expect(end(200_000_001)).rejects.toThrow('submissions_charge_within_hold');
  const charge = `INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
      balance_after_micros, held_after_micros, submission_id, created_at)
    SELECT gen_random_uuid(), tenant_id, 'charge', 'tenant_held', 'revenue', 1, 1, 0, id, svc_now() FROM submissions`;
  await database.query(charge);
  await expect(database.query(charge)).rejects.toThrow('ledger_entries_submission_id_type_key');
});

test('the number of an entry is unique in its tenant', async () => {
  const { tenant, database } = await createFixture();
  const again = database.query(
    `INSERT INTO ledger_entries (id, sequence, tenant_id, type, debit_account, credit_account, amount_micros,
       balance_after_micros, held_after_micros, created_at)
     SELECT gen_random_uuid(), sequence, tenant_id, 'grant', 'issuance', 'tenant_available', 1, 1, 0, svc_now()
     FROM ledger_entries WHERE tenant_id = $1`,
    [await tenant()],
  );
  await expect(again).rejects.toThrow('ledger_entries_pkey');
});

test('an entry moves only between the accounts of its type', async () => {
  const { tenant, database } = await createFixture();
  const tenantId = await tenant();
  const entry = database.query(
    `INSERT INTO ledger_entries (id, tenant_id, type, debit_account, credit_account, amount_micros,
       balance_after_micros, held_after_micros, created_at)
     VALUES (gen_random_uuid(), $1, 'grant', 'revenue', 'tenant_available', 1, 1, 0, svc_now())`,
    [tenantId],
  );
  await expect(entry).rejects.toThrow('ledger_entries_movement');
});

test('a live key is unique per tenant', async () => {
  const { tenant, hold, database } = await createFixture();
  const tenantId = await tenant();
  await hold(tenantId, { key: 'a' });
  const { id } = await hold(tenantId, { key: 'b' });
  const rename = database.query(`UPDATE submissions SET idempotency_key = 'a' WHERE id = $1`, [id]);
  await expect(rename).rejects.toThrow('submissions_tenant_id_idempotency_key_key');
});

test('a state without its columns is refused', async () => {
  const { store, tenant, hold, node, database } = await createFixture();
  const { id } = await hold(await tenant());
  const set = (sql: string) => database.query(`UPDATE submissions SET ${sql} WHERE id = $1`, [id]);
  await expect(set(`state = 'dispatched'`)).rejects.toThrow('submissions_assigned');
  await expect(set(`state = 'submitted'`)).rejects.toThrow('violates check constraint');
  await expect(set(`state = 'lost'`)).rejects.toThrow(/submissions_(state|assigned)/);
  await commitDispatched(store, { submissionId: id, nodeId: await node() });
  await expect(set(`state = 'running'`)).rejects.toThrow('submissions_begun');
  await expect(set(`state = 'pending'`)).rejects.toThrow('submissions_unassigned');
});

test('a migrated database has the partitions of last month and of the next three', async () => {
  const { database } = await createFixture();
  const parents = ['usage_reports', 'deliveries', 'delivery_attempts'];
  for (const parent of parents) {
    const rows = await database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = $1::regclass',
      [parent],
    );
    expect(rows[0]?.count).toBe(6);
  }
});

test('the terms of a purchase intent never change, a closed one keeps its end, and payments stay', async () => {
  const { tenant, database } = await createFixture();
  const tenantId = await tenant();
  await database.query(
    `INSERT INTO purchase_intents (reference, tenant_id, credits_micros, amount_usdc_micros, status,
       recipient, token_account, mint, usd_per_credit_micros, created_at, expires_at, grace_ends_at,
       ask_at, ask_again_at)
     SELECT 'reference', $1, 100, 100, 'pending', 'recipient', 'account', 'mint', 1000000, svc_now(),
       svc_now() + interval '1 h', svc_now() + interval '2 h', svc_now(), svc_now() + interval '1 h'`,
    [tenantId],
  );
  const set = (sql: string) => database.query(`UPDATE purchase_intents SET ${sql}`);
  const other = await tenant();
  for (const change of [
    `reference = 'other'`,
    `tenant_id = '${other}'`,
    'credits_micros = 101',
    'amount_usdc_micros = 99',
    'usd_per_credit_micros = 1',
    `recipient = 'thief'`,
    `token_account = 'thief'`,
    `mint = 'thief'`,
    `created_at = created_at - interval '1 s'`,
    `expires_at = expires_at + interval '1 s'`,
    `grace_ends_at = grace_ends_at + interval '1 s'`,
  ]) {
    await expect(set(change)).rejects.toThrow('terms of a purchase intent never change');
  }
  await set('paid_usdc_micros = 50');
  const kept = 'a closed purchase intent keeps its end, and payments are not taken back';
  await expect(set('paid_usdc_micros = 49')).rejects.toThrow(kept);
  await set(`paid_usdc_micros = 100, status = 'confirmed', transaction_signature = 's',
    confirmed_at = svc_now(), closed_at = svc_now()`);
  await set('paid_usdc_micros = 101');
  for (const change of [
    `status = 'pending', transaction_signature = NULL, confirmed_at = NULL, closed_at = NULL`,
    `transaction_signature = 't'`,
    `confirmed_at = confirmed_at + interval '1 s'`,
    `closed_at = closed_at + interval '1 s'`,
  ]) {
    await expect(set(change)).rejects.toThrow(kept);
  }
  const pay = (account: string) =>
    database.query(
      `INSERT INTO solana_payments (signature, token_account, mint, amount_usdc_micros, slot, reference, created_at)
       VALUES ('s', $1, 'mint', 1, 1, 'reference', svc_now())`,
      [account],
    );
  await pay('account');
  await expect(pay('another')).rejects.toThrow('solana_payments_signature_key');
  await expect(database.query('DELETE FROM solana_payments')).rejects.toThrow('append-only');
});

test('the environment of a database is written once', async () => {
  const { database } = await createFixture();
  for (const sql of [
    `UPDATE environment SET name = 'production'`,
    'DELETE FROM environment',
    'TRUNCATE environment',
  ]) {
    await expect(database.query(sql)).rejects.toThrow('one environment for good');
  }
});
