import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';

let whole: WholeStack;

beforeAll(async () => {
  whole = await startWholeStack({ pilot: { outcome: () => undefined } });
});
afterAll(() => whole.close());

const post = (body: object) => ({ method: 'POST', target: '/v1/submissions', body });

function countByStatus(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

test('50 parallel posts of one key hold once, and get the same answer', async () => {
  const tenant = await whole.tenant({ grantCredits: 10_000 });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => whole.askAs(tenant, post(job('one')))),
  );
  expect(countByStatus(answers)).toEqual({ 200: 49, 201: 1 });
  expect(new Set(answers.map(({ body }) => body['submissionId'])).size).toBe(1);
  const balance = await whole.askAs(tenant, { method: 'GET', target: '/v1/credits/balance' });
  expect(balance.body).toMatchObject({ balance: 10_000, held: 200, available: 9_800 });
  expect(await auditMoney(whole.stack.query)).toEqual([]);
});

test('200 parallel posts against credit for 20 get 20 × 201 and 180 × 402', async () => {
  const tenant = await whole.tenant({ grantCredits: 20 * 200 });
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => whole.askAs(tenant, post(job(`key-${index}`)))),
  );
  expect(countByStatus(answers)).toEqual({ 201: 20, 402: 180 });
  const balance = await whole.askAs(tenant, { method: 'GET', target: '/v1/credits/balance' });
  expect(balance.body).toMatchObject({ balance: 4_000, held: 4_000, available: 0 });
  expect(await auditMoney(whole.stack.query)).toEqual([]);
});
