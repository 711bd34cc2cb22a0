import { submissionStates } from '@svc/domain';
import { expect, test } from 'vitest';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { isAssignedOrSettling, isEnded, isInFlight, isNotRejected } from './submission-states.ts';

/** The states for which Postgres finds the condition true. `finished_at` is set. */
async function statesOf({ database }: Fixture, condition: string): Promise<string> {
  const rows = await database.query<{ state: string }>(
    `SELECT state FROM unnest($1::text[]) AS r (state), now() AS finished_at WHERE ${condition}`,
    [[...submissionStates]],
  );
  return rows.map(({ state }) => state).join(' ');
}

test('each condition on the state has a partial index with exactly its states', async () => {
  const fixture = await createFixture();
  const predicates = await fixture.database.query<{ predicate: string }>(
    `SELECT pg_get_expr(indpred, indrelid) AS predicate FROM pg_index
     WHERE indrelid = 'submissions'::regclass AND pg_get_expr(indpred, indrelid) ~ '^\\(+state'`,
  );
  const indexed = await Promise.all(
    predicates.map(({ predicate }) => statesOf(fixture, predicate)),
  );
  for (const condition of [isNotRejected, isInFlight, isAssignedOrSettling])
    expect(indexed).toContain(await statesOf(fixture, `state ${condition}`));
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
