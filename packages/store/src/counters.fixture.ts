import type { Fixture } from './store.fixture.ts';

const poolConnectionsMax = 10;

/**
 * Makes the sessions of Postgres flush their statistics: those of the pool, and the session that
 * seeded the data. An idle session flushes only some seconds later. Without this call, a
 * measurement would miss late figures of its statements, or count those of earlier ones.
 */
export async function flushCounters({ database, store }: Fixture): Promise<void> {
  const slowly = 'SELECT pg_stat_force_next_flush(), pg_sleep(0.1)';
  const sessions = Array.from({ length: poolConnectionsMax }, () => slowly);
  await Promise.all(sessions.map((ask) => store.query(ask, [])));
  await database.query('SELECT pg_stat_force_next_flush()');
}
