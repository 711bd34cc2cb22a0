import type { Fixture } from './store.fixture.ts';

/** Of a store's pool. */
const poolConnectionsMax = 10;

/**
 * Has Postgres write down what every session has read so far. By itself a session that is idle does so
 * some seconds later, and what was read before would be counted to what is looked at then: every
 * connection of the pool is asked, all at once, and the one that seeded.
 */
export async function flushCounters({ database, store }: Fixture): Promise<void> {
  const slowly = 'SELECT pg_stat_force_next_flush(), pg_sleep(0.1)';
  const sessions = Array.from({ length: poolConnectionsMax }, () => slowly);
  await Promise.all(sessions.map((ask) => store.query(ask, [])));
  await database.query('SELECT pg_stat_force_next_flush()');
}
