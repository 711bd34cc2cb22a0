import { waitUntil } from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createFixture, type Fixture } from './test-fixture.ts';

/** Somebody else's transaction that changes the account and has not ended yet. */
async function beginChange({ database }: Fixture, change: string): Promise<Client> {
  const client = new Client({ connectionString: database.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(`UPDATE credit_accounts SET ${change}`);
  return client;
}

for (const [what, change] of [
  ['a release', 'held_micros = 600000000'],
  ['a grant', 'balance_micros = 1100000000'],
] as const) {
  test(`a hold that waits for ${what} is granted by what that leaves`, async () => {
    const fixture = await createFixture();
    const tenantId = await fixture.tenant(900);
    await fixture.hold(tenantId, { max: 800 });
    const other = await beginChange(fixture, change);
    const placed = fixture.hold(tenantId, { max: 250 });
    await waitUntil(async () => {
      const waiting = await fixture.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await other.query('COMMIT');
    expect((await placed).outcome).toMatchObject({
      kind: 'held',
      availableAfterMicros: 50_000_000n,
    });
  });
}
