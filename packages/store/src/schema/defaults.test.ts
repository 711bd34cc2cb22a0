import {
  lowBalanceThresholdDefaultMicros,
  rateLimitBurstDefault,
  rateLimitPerSecondDefault,
  slotsMaxDefault,
} from '@svc/domain';
import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';

/** The default of a column cannot import a constant of the code, so this test compares the two. */

test.each([
  ['tenants', 'rate_limit_per_second', rateLimitPerSecondDefault],
  ['tenants', 'rate_limit_burst', rateLimitBurstDefault],
  ['credit_accounts', 'low_balance_threshold_micros', lowBalanceThresholdDefaultMicros],
  ['nodes', 'slots_max', slotsMaxDefault],
])('the default of %s.%s is the limit of the domain', async (table, column, limit) => {
  const { store } = await createFixture();
  const [row] = await store.query<{ value: string }>(
    `SELECT pg_get_expr(d.adbin, d.adrelid) AS value
     FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
     WHERE d.adrelid = $1::regclass AND a.attname = $2`,
    [table, column],
  );
  expect(BigInt(row?.value.replaceAll(/[^0-9]/g, '') ?? -1)).toBe(BigInt(limit));
});
