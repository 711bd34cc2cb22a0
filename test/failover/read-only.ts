import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { World } from '../faults/world/types.ts';

/**
 * Makes a database read-only. `all sessions`: open sessions follow. `new sessions`: all open ones
 * end, and one that begins meanwhile stays read-only after `acceptWrites`.
 */
export async function refuseWrites(
  ownerUrl: string,
  which: 'all sessions' | 'new sessions',
): Promise<void> {
  if (which === 'all sessions')
    return run(ownerUrl, [
      'ALTER SYSTEM SET default_transaction_read_only = on',
      'SELECT pg_reload_conf()',
    ]);
  await run(ownerUrl, [
    'ALTER DATABASE postgres SET default_transaction_read_only = on',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = 'postgres' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  ]);
}

/** Ends what `refuseWrites` has set. */
export async function acceptWrites(ownerUrl: string): Promise<void> {
  await run(ownerUrl, [
    'ALTER DATABASE postgres RESET default_transaction_read_only',
    'ALTER SYSTEM RESET default_transaction_read_only',
    'SELECT pg_reload_conf()',
  ]);
}

async function run(ownerUrl: string, statements: readonly string[]): Promise<void> {
  const client = new Client({
    connectionString: ownerUrl,
    options: '-c default_transaction_read_only=off',
  });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const noticedWithinMs = 5_000;
const lookEveryMs = 100;

/** Complains about each service that does not say within 5 s that it is not ready. */
export async function requireNotReady({ services, http, hosts, seen }: World): Promise<void> {
  const until = performance.now() + noticedWithinMs;
  await Promise.all(
    services.map(async ({ process: { name, ready } }) => {
      const baseUrl = `http://${hosts.of(name).address}:${ready.adminPort}`;
      for (;;) {
        const answer = await http.ask(baseUrl, { method: 'GET', target: '/ready' });
        const missing = answer?.body['missing'];
        if (answer?.status === 503 && Array.isArray(missing) && missing.includes('postgres'))
          return;
        if (performance.now() > until) {
          seen.complain(name, 'says that it is ready, but its Postgres is read-only');
          return;
        }
        await sleep(lookEveryMs);
      }
    }),
  );
}
