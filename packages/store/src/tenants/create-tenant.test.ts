import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFixture, newSubmission } from '../store.fixture.ts';
import { createTenant } from './create-tenant.ts';

const newTenant = (id: string) => ({
  id,
  name: 'Example Works',
  allowedJobTypes: ['ats.application'],
  webhookUrl: null,
  hmacSecret: 'hsk_test_1',
  webhookSecret: 'whsec_MQ==',
});

test('if the opening grant cannot be written, the tenant does not exist', async () => {
  const { store, database } = await createFixture();
  // The constraint makes the insert of the ledger entry fail.
  await database.query(
    `ALTER TABLE ledger_entries ADD CONSTRAINT planted CHECK (amount_micros <> 7000000)`,
  );
  const id = store.newId();
  await expect(createTenant(store, newTenant(id), 7_000_000n, testAuthor)).rejects.toThrow(/./);
  for (const table of ['tenants', 'credit_accounts', 'tenant_secrets', 'purchases', 'audit_log']) {
    expect(await database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
  }
  await createTenant(store, newTenant(id), 8_000_000n, testAuthor);
  expect(await database.query('SELECT amount_micros FROM ledger_entries')).toEqual([
    { amount_micros: '8000000' },
  ]);
});

test('a grant of 0 opens an empty account', async () => {
  const { store, figures } = await createFixture();
  const submission = await newSubmission(store, store.newId());
  await createTenant(store, newTenant(submission.tenantId), 0n, testAuthor);
  expect(await figures(submission.tenantId)).toEqual({ balance: 0, held: 0 });
});
