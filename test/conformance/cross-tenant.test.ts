import type { TenantCredentials } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { job } from '../support/job.ts';
import { startWholeStack, type WholeStack } from '../support/whole-stack.ts';
import type { WireAnswer, WireRequest } from '../support/wire.ts';

/** Whatever takes an id answers somebody else's as it answers one that does not exist. */

let whole: WholeStack;
let owner: TenantCredentials;
let stranger: TenantCredentials;
let submissionId: string;

beforeAll(async () => {
  whole = await startWholeStack({ pilot: { outcome: () => undefined } });
  owner = await whole.tenant();
  stranger = await whole.tenant();
  const created = await whole.askAs(owner, {
    method: 'POST',
    target: '/v1/submissions',
    body: job('mine'),
  });
  submissionId = String(created.body['submissionId']);
});
afterAll(() => whole.close());

/** An id of the owner's for every endpoint that takes one; adding an endpoint adds a line here. */
const cases: Readonly<Record<string, () => { id: string; unknown: string }>> = {
  getSubmission: () => ({ id: submissionId, unknown: 'sub_00000000000000000000000000' }),
  cancelSubmission: () => ({ id: submissionId, unknown: 'sub_00000000000000000000000000' }),
};

const withId = () => whole.api.operations.filter(({ path }) => path.includes('{'));

test('every endpoint that takes an id has its case here', () => {
  expect(
    withId()
      .map(({ operationId }) => operationId)
      .toSorted(),
  ).toEqual(Object.keys(cases).toSorted());
});

test.each(Object.keys(cases))('%s: a foreign id is an unknown one, to the byte', async (name) => {
  const operation = withId().find(({ operationId }) => operationId === name);
  const { id, unknown } = cases[name]?.() ?? { id: '', unknown: '' };
  const ask = async (who: TenantCredentials, one: string): Promise<WireAnswer> => {
    const wire: WireRequest = {
      method: operation?.method.toUpperCase() ?? '',
      target: operation?.path.replace(/\{[^}]+\}/, one) ?? '',
      headers: { 'x-request-id': 'the-same' },
    };
    return whole.askAs(who, wire);
  };
  const foreign = await ask(stranger, id);
  expect(foreign.status).toBe(404);
  for (const other of [unknown, 'malformed', id.toUpperCase(), `${id}%00`, '..%2f..']) {
    const answer = await ask(stranger, other);
    expect(answer.text).toBe(foreign.text);
    expect({ ...answer.headers, date: '' }).toEqual({ ...foreign.headers, date: '' });
  }
  const route = await whole.askAs(stranger, {
    method: 'GET',
    target: '/v1/nowhere',
    headers: { 'x-request-id': 'the-same' },
  });
  expect(route.text).toBe(foreign.text);
  // It is there all the same, and the stranger has done nothing to it.
  const own = await whole.askAs(owner, {
    method: 'GET',
    target: `/v1/submissions/${submissionId}`,
  });
  expect(own.body).toMatchObject({ id: submissionId });
  expect(own.body['status']).not.toBe('cancelled');
});
