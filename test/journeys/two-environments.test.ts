import { connectScriptedNode, LinkRefused, svcJson } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedByOperator } from '../support/accounts.ts';
import { job } from '../support/job.ts';
import { recordRun } from './recorded-run.fixture.ts';
import { type Environment, startEnvironment } from './two-environments.fixture.ts';

/**
 * Both environments answer the same requests in the same way, except signup. Neither accepts
 * credentials or ids of the other (CONTRACT 0).
 */

let sandbox: Environment;
let production: Environment;

beforeAll(async () => {
  [sandbox, production] = await Promise.all([
    startEnvironment('sandbox'),
    startEnvironment('production'),
  ]);
});
afterAll(async () => {
  await sandbox.close();
  await production.close();
});

test('secrets name their environment, and only the sandbox allows signup', async () => {
  expect(sandbox.tenant.hmacSecret).toMatch(/^hsk_test_/);
  expect(production.tenant.hmacSecret).toMatch(/^hsk_live_/);
  for (const method of ['GET', 'POST']) {
    const wire = {
      method,
      target: '/signup',
      ...(method === 'POST' ? { body: { name: 'a' } } : {}),
    };
    expect((await sandbox.ask(wire)).status).toBeLessThan(300);
    expect(await production.ask(wire)).toMatchObject({ status: 404 });
  }
});

test('neither accepts a connection without TLS', async () => {
  for (const { stack } of [sandbox, production]) {
    const plain = stack.gatewayUrl.replace('https:', 'http:');
    await expect(fetch(`${plain}/ready`)).rejects.toThrow('fetch failed');
  }
});

test('the same requests get the same answers', async () => {
  const [one, other] = await Promise.all([recordRun(sandbox), recordRun(production)]);
  expect(one.length).toBeGreaterThan(40);
  expect(other).toEqual(one);
  const statuses = new Set(one.map((line) => /: (\d{3}) /.exec(line)?.[1]));
  const expected = [200, 201, 202, 401, 402, 403, 404, 405, 409, 422, 429, 503].map(String);
  expect([...statuses].filter((status) => status !== undefined).toSorted()).toEqual(expected);
});

const listTenants = (context: NodeJS.ProcessEnv) =>
  svcJson(['tenant', 'list'], context).catch((error: unknown) => error);

describe.each([
  { from: 'sandbox', at: 'production', of: () => ({ ours: sandbox, theirs: production }) },
  { from: 'production', at: 'sandbox', of: () => ({ ours: production, theirs: sandbox }) },
])('credentials and ids of $from do not work at $at', ({ from, at, of }) => {
  test('a tenant, and an operator', async () => {
    const { ours, theirs } = of();
    const balance = { method: 'GET', target: '/v1/credits/balance' };
    expect(await ours.askAs(ours.tenant, balance)).toMatchObject({ status: 200 });
    expect(await theirs.askAs(ours.tenant, balance)).toMatchObject({ status: 401 });
    const body = { tenantId: theirs.tenant.tenantId, credits: 1, reference: `from ${from}` };
    const purchase = { method: 'POST', target: '/v1/credits/purchase', body };
    const answer = await theirs.ask(signedByOperator(ours.operator, purchase));
    expect(answer.status).toBe(401);
  });

  test('the id of a submission', async () => {
    const { ours, theirs } = of();
    const body = job(`only ${from}`);
    const made = await ours.askAs(ours.tenant, { method: 'POST', target: '/v1/submissions', body });
    const target = `/v1/submissions/${String(made.body['submissionId'])}`;
    expect((await ours.askAs(ours.tenant, { method: 'GET', target })).status).toBe(200);
    const seen = await theirs.askAs(theirs.tenant, { method: 'GET', target });
    expect(seen.status).toBe(404);
    const key = encodeURIComponent(body.idempotencyKey);
    const list = { method: 'GET', target: `/v1/submissions?idempotencyKey=${key}` };
    expect((await theirs.askAs(theirs.tenant, list)).body).toEqual({ data: [], nextCursor: null });
  });

  test('a node', async () => {
    const { ours, theirs } = of();
    const { nodeId, nodeSecret: secret } = ours.nodeCredentials;
    const { nodeLinkUrl: link, ca = '' } = theirs.stack;
    const refused = await connectScriptedNode({ link, nodeId, secret, ca }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(LinkRefused);
    expect(refused).toMatchObject({ status: 401 });
  });

  test('the context of the admin CLI: its environment, its database, its key, its operator', async () => {
    const { ours, theirs } = of();
    expect(await listTenants(ours.context)).toHaveLength(from === 'sandbox' ? 3 : 2);
    const { DATABASE_URL, SVC_MASTER_KEY, SVC_OPERATOR_ID, SVC_OPERATOR_SECRET } = theirs.context;
    const mixed = await listTenants({ ...ours.context, DATABASE_URL });
    expect(String(mixed)).toContain(`The database belongs to ${at}`);
    expect(String(await listTenants({ ...ours.context, SVC_MASTER_KEY }))).toContain(
      'SVC_MASTER_KEY cannot open the sealed values of the database',
    );
    const operator = { SVC_OPERATOR_ID, SVC_OPERATOR_SECRET };
    expect(String(await listTenants({ ...ours.context, ...operator }))).toContain(
      'do not match an enabled operator',
    );
  });
});
