import { expect, test } from 'vitest';
import { flushCounters } from './counters.fixture.ts';
import { type DeliveryFilter, listDeliveries } from './deliveries/list.ts';
import { seedEnded } from './ended.fixture.ts';
import { readStatement, type StatementFilter } from './ledger/account-statement.ts';
import { createFixture, type Fixture } from './store.fixture.ts';
import { listSubmissions, type SubmissionFilter } from './submissions/submission-list.ts';

/**
 * Checks that the lists of submissions, ledger entries and deliveries read few rows, even if few
 * rows match the filter. The statistics of Postgres count the rows that are read.
 */

const rows = 20_000;
/**
 * The most rows that one call of a list may read from the tables. A page has at most 20 rows. The
 * rest of the limit is for rows that are read and not returned.
 */
const rowsReadMax = 100;

async function rowsReadSoFar(fixture: Fixture): Promise<number> {
  await flushCounters(fixture);
  const [row] = await fixture.database.query<{ read: number }>(`
    SELECT sum(idx_tup_fetch + seq_tup_read)::int AS read FROM pg_stat_user_tables
    WHERE relname ~ '^(submissions|ledger_entries|deliveries)'`);
  return row?.read ?? 0;
}

test('rare rows are listed without reading the frequent ones', { timeout: 120_000 }, async () => {
  const fixture = await createFixture();
  const { store, hold } = fixture;
  const tenantId = await fixture.tenant(100_000);
  await seedEnded(fixture, { tenantId, rows });
  await fixture.database.query('ANALYZE');
  const { id } = await hold(tenantId, { key: 'one' });
  const none: SubmissionFilter = {
    status: null,
    idempotencyKey: null,
    createdAfter: null,
    createdBefore: null,
    after: null,
    limit: 20,
  };
  const all: StatementFilter = { type: null, submissionId: null, after: null, limit: 20 };
  const some: DeliveryFilter = { status: null, afterId: null, limit: 20 };
  const middle = new Date(Date.now() - 1_000 * (rows / 2));
  const lists: Record<string, () => Promise<unknown>> = {};
  for (const status of ['pending', 'dispatched', 'running', 'failed', 'cancelled'] as const) {
    lists[`submissions ${status}`] = () => listSubmissions(store, tenantId, { ...none, status });
  }
  const submissions = (filter: Partial<SubmissionFilter>) => () =>
    listSubmissions(store, tenantId, { ...none, ...filter });
  lists['submissions by key'] = submissions({ idempotencyKey: 'one' });
  lists['submissions before'] = submissions({ createdBefore: middle });
  lists['submissions after'] = submissions({ createdAfter: middle });
  lists['submissions behind a cursor'] = submissions({ after: { createdAt: middle, id } });
  for (const type of ['grant', 'rebate', 'reversal', 'hold'] as const) {
    lists[`statement ${type}`] = () => readStatement(store, tenantId, { ...all, type });
  }
  const newest = await readStatement(store, tenantId, { ...all, limit: 1 });
  lists['statement behind a cursor'] = () =>
    readStatement(store, tenantId, { ...all, after: newest.nextAfter });
  lists['statement of one'] = () => readStatement(store, tenantId, { ...all, submissionId: id });
  for (const status of ['pending', 'exhausted', 'dropped', 'delivered'] as const) {
    lists[`deliveries ${status}`] = () => listDeliveries(store, tenantId, { ...some, status });
  }
  for (const [name, list] of Object.entries(lists)) {
    const before = await rowsReadSoFar(fixture);
    await list();
    const read = (await rowsReadSoFar(fixture)) - before;
    expect({ name, dear: read > rowsReadMax, read }).toMatchObject({ name, dear: false });
  }
});
