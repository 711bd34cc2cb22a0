import { toWireId } from '@svc/domain';
import {
  claimDue,
  commitDispatched,
  commitRunning,
  recordAttempt,
  settle,
  storeOutcome,
} from '@svc/store';
import { openFixture } from '@svc/store/fixture';
import { bareEnvironment, runSvc, testMasterKey } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Reading a node's result or an endpoint's response is audited, because both may contain personal
 * data.
 */

let fixture: Awaited<ReturnType<typeof openFixture>>;
let tenantId: string;
let submissionId: string;
let deliveryId: string;

beforeAll(async () => {
  fixture = await openFixture();
  const { store } = fixture;
  tenantId = await fixture.tenant(1_000, 'https://hooks.example.com/');
  const nodeId = await fixture.node();
  const { id } = await fixture.hold(tenantId);
  await commitDispatched(store, { submissionId: id, nodeId });
  await commitRunning(store, { submissionId: id, nodeId });
  const outcome = { kind: 'completed', usage: {}, result: { confirmationId: 'A-1' } } as const;
  await storeOutcome(store, { submissionId: id, nodeId, outcome });
  await settle(store, [id]);
  submissionId = toWireId('sub', id);
  deliveryId = await answer({ kind: 'delivered' });
});
afterAll(async () => {
  await fixture.close();
});

async function answer(
  verdict: Parameters<typeof recordAttempt>[1]['verdict'],
  wanted?: string,
): Promise<string> {
  const [claim] = await claimDue(fixture.store, [
    { tenantId, attemptsMax: wanted === undefined ? 1 : 10 },
  ]);
  const attempt = claim?.attempts.find(
    (one) => wanted === undefined || toWireId('dlv', one.deliveryId) === wanted,
  );
  if (attempt === undefined) throw new Error('nothing to claim');
  const answered = { statusCode: 200, durationMs: 1, error: null, responseText: 'Thanks, Ana' };
  await recordAttempt(fixture.store, { ...attempt, ...answered, verdict });
  return toWireId('dlv', attempt.deliveryId);
}

async function noted(...words: string[]): Promise<unknown[]> {
  const last = 'SELECT COALESCE(max(id), 0) AS id FROM audit_log';
  const [before] = await fixture.database.query<{ id: string }>(last);
  const env = {
    ...bareEnvironment(),
    DATABASE_URL: fixture.database.databaseUrl,
    SVC_MASTER_KEY: testMasterKey(),
  };
  expect(await runSvc(words, env)).toMatchObject({ code: 0 });
  return fixture.database.query(
    'SELECT actor_kind, action, subject_id, after FROM audit_log WHERE id > $1',
    [before?.id],
  );
}

const entryOf = (action: string, subject: string, after: object | null = null) => [
  { actor_kind: 'local', action, subject_id: subject, after },
];

test('reading the result of a node is audited', async () => {
  const read = entryOf('submission.read', submissionId);
  expect(await noted('submission', 'show', submissionId)).toEqual(read);
  expect(await noted('trace', submissionId)).toEqual(read);
  const list = entryOf('list.read', 'submissions', { count: 1 });
  expect(await noted('submission', 'list', '--json')).toEqual(list);
  expect(await noted('submission', 'list')).toEqual([]);
});

test('reading the response of an endpoint is audited', async () => {
  const read = entryOf('delivery.read', deliveryId);
  expect(await noted('webhook', 'show', deliveryId)).toEqual(read);
  const list = entryOf('list.read', 'deliveries', { count: 1 });
  expect(await noted('webhook', 'list', '--json')).toEqual(list);
  expect(await noted('webhook', 'list')).toEqual([]);
});

test('a redelivery shows no responses, because its round is new, and is not audited as reading', async () => {
  const redelivered = [{ action: 'delivery.redeliver', subject_id: deliveryId }];
  expect(await noted('webhook', 'redeliver', deliveryId)).toMatchObject(redelivered);
  await answer({ kind: 'retry', delayMs: 3_600_000 }, deliveryId);
  expect(await noted('webhook', 'redeliver', deliveryId)).toMatchObject(redelivered);
});

test('reading a submission whose personal data was purged is not audited', async () => {
  await noted('submission', 'purge', submissionId, '--yes');
  expect(await noted('submission', 'show', submissionId)).toEqual([]);
});
