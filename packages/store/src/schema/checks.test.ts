import { createTestDatabase, type TestDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckCase } from './checks/check-case.fixture.ts';
import { deliveryChecks } from './checks/deliveries.fixture.ts';
import { moneyChecks } from './checks/money.fixture.ts';
import { operationChecks } from './checks/operations.fixture.ts';
import { purchaseIntentChecks } from './checks/purchase-intents.fixture.ts';
import { submissionChecks } from './checks/submissions.fixture.ts';
import { tenantChecks } from './checks/tenants.fixture.ts';

/**
 * Tests the condition of each CHECK constraint alone, so a row of a test case needs only the
 * columns that this CHECK reads.
 */

const cases: readonly CheckCase[] = [
  ...operationChecks,
  ...tenantChecks,
  ...submissionChecks,
  ...moneyChecks,
  ...purchaseIntentChecks,
  ...deliveryChecks,
];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.close());

async function conditionOf({ table, check, isUnvalidated = false }: CheckCase): Promise<string> {
  const [found] = await database.query<{ condition: string }>(
    `SELECT pg_get_expr(conbin, conrelid) AS condition FROM pg_constraint
     WHERE conrelid = $1::regclass AND conname = $2 AND contype = 'c' AND (convalidated OR $3)`,
    [table, check, isUnvalidated],
  );
  if (found === undefined) throw new Error(`${table} has no CHECK ${check}`);
  return found.condition;
}

test.each(cases)('$check accepts valid rows and refuses each violation', async (one) => {
  const condition = await conditionOf(one);
  const rows = [...one.accepts, ...one.refuses];
  // A CHECK whose condition is NULL accepts the row.
  const answers = await database.query<{ passes: boolean }>(
    `SELECT coalesce(checked.passes, true) AS passes
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS given (row, number),
       LATERAL (SELECT ${condition} AS passes
         FROM jsonb_populate_record(NULL::${one.table}, given.row) AS ${one.table}) AS checked
     ORDER BY given.number`,
    [JSON.stringify(rows)],
  );
  const passed = rows.filter((_, index) => answers[index]?.passes);
  expect(passed).toStrictEqual(one.accepts);
});

test('each CHECK has a case', async () => {
  const found = await database.query<{ name: string }>(
    `SELECT conrelid::regclass || ' ' || conname AS name FROM pg_constraint
     WHERE contype = 'c' AND conrelid <> 0 AND coninhcount = 0
       AND connamespace = current_schema()::regnamespace
     ORDER BY 1`,
  );
  const tested = cases.map(({ table, check }) => `${table} ${check}`).toSorted();
  expect(found.map(({ name }) => name).toSorted()).toStrictEqual(tested);
});
