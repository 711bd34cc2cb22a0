import { submissionStates } from '@svc/domain';
import { expect, test } from 'vitest';
import { cancelSubmission } from '../endings/endings.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { isEnded, isNotRejected, statesOtherwise } from './submission-states.ts';

async function statesOf({ database }: Fixture, condition: string): Promise<string> {
  const rows = await database.query<{ state: string }>(
    `SELECT state FROM unnest($1::text[]) AS r (state), now() AS finished_at WHERE ${condition}`,
    [[...submissionStates]],
  );
  return rows.map(({ state }) => state).join(' ');
}

const changingColumns = [
  'state',
  'node_id',
  'offers',
  'start_deadline_at',
  'run_deadline_at',
  'lease_expires_at',
  'dispatched_at',
  'started_at',
  'begun_instance',
  'usage_[a-z_]+',
  'outcome_[a-z_]+',
  'charged_micros',
  'finished_at',
];

test('no index of submissions names a column that changes before a submission has succeeded', async () => {
  const { database } = await createFixture();
  const indexes = await database.query<{ definition: string }>(
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'submissions'::regclass`,
  );
  expect(indexes).toHaveLength(6);
  const changing = new RegExp(`\\b(?:${changingColumns.join('|')})\\b`);
  for (const { definition } of indexes) expect(definition).not.toMatch(changing);
});

test('the column for indexes has the state of every end without success, and no other', async () => {
  const fixture = await createFixture();
  const [column] = await fixture.database.query<{ value: string }>(
    `SELECT pg_get_expr(adbin, adrelid) AS value FROM pg_attrdef
     WHERE adrelid = 'submissions'::regclass AND pg_get_expr(adbin, adrelid) ~ 'CASE'`,
  );
  const value = column?.value ?? 'NULL';
  expect(await statesOf(fixture, `${value} = state`)).toBe(statesOtherwise.join(' '));
  expect(await statesOf(fixture, `${value} IS NOT NULL`)).toBe(statesOtherwise.join(' '));
  expect(await statesOf(fixture, `NOT (${value} ${isNotRejected})`)).toBe('rejected');
});

test('the table of submissions in flight has a submission from its hold to its end', async () => {
  const { store, tenant, hold, database } = await createFixture();
  const tenantId = await tenant();
  const { id: submissionId } = await hold(tenantId);
  const inFlight = () => database.query('SELECT * FROM submissions_in_flight');
  expect(await inFlight()).toEqual([{ submission_id: submissionId, tenant_id: tenantId }]);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  expect(await inFlight()).toEqual([]);
  const columns = `tenant_id, request_hash, request_id, job_type, tier, state, payload_sealed,
    quote_estimated_micros, quote_max_micros, surge_micros, rate_card_version, available_after_micros,
    dispatch_deadline_at, created_at, charged_micros, cancelled_by, finished_at`;
  await database.query(`INSERT INTO submissions (id, idempotency_key, ${columns})
    SELECT gen_random_uuid(), 'seed', ${columns} FROM submissions`);
  expect(await inFlight()).toEqual([]);
  await database.query(`UPDATE submissions SET state = 'pending', finished_at = NULL,
    charged_micros = NULL, cancelled_by = NULL`);
  expect(await inFlight()).toHaveLength(2);
  await database.query('DELETE FROM submissions');
  expect(await inFlight()).toEqual([]);
});

test('the CHECKs of a submission allow the states of the domain, and an end in those that end it', async () => {
  const fixture = await createFixture();
  const allowedBy = async (name: string) => {
    const [row] = await fixture.database.query<{ condition: string }>(
      'SELECT pg_get_expr(conbin, conrelid) AS condition FROM pg_constraint WHERE conname = $1',
      [name],
    );
    return await statesOf(fixture, row?.condition ?? 'false');
  };
  expect(await allowedBy('submissions_state')).toBe(submissionStates.join(' '));
  expect(await allowedBy('submissions_finished_when_ended')).toBe(
    await statesOf(fixture, `state ${isEnded}`),
  );
});
