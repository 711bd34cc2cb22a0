import type { Fixture } from './store.fixture.ts';

const poolConnectionsMax = 10;

/**
 * Flushes the statistics of Postgres before they are read. Otherwise an idle session flushes its
 * figures only some seconds later.
 */
export async function flushCounters({ database, store }: Fixture): Promise<void> {
  const slowly = 'SELECT pg_stat_force_next_flush(), pg_sleep(0.1)';
  const sessions = Array.from({ length: poolConnectionsMax }, () => slowly);
  await Promise.all(sessions.map((ask) => store.query(ask, [])));
  await database.query('SELECT pg_stat_force_next_flush()');
}
