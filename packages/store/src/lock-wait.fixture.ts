import { waitUntil } from '@svc/testkit';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import type { Fixture } from './store.fixture.ts';

export interface OpenTransaction {
  readonly query: (text: string, values?: unknown[]) => Promise<unknown>;
  readonly commit: () => Promise<unknown>;
}

/**
 * Begins a transaction on another connection. If the test does not commit it, the server rolls it
 * back when the test ends.
 */
export async function beginOther({ database }: Fixture): Promise<OpenTransaction> {
  const client = new Client({ connectionString: database.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  return {
    query: (text, values) => client.query(text, values),
    commit: () => client.query('COMMIT'),
  };
}

/** Waits until at least `count` statements wait for a lock. */
export async function untilLockWait({ database }: Fixture, count = 1): Promise<void> {
  await waitUntil(
    async () => {
      const waiting = await database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length >= count;
    },
    { what: `${count} statements to wait for a lock` },
  );
}
