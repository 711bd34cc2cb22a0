import { expect, test } from 'vitest';
import { recordAttempt } from '../deliveries/attempts.ts';
import { findDelivery, listDeliveries } from '../deliveries/list.ts';
import { cancelSubmission, rejectPending } from '../endings/endings.ts';
import { readStatement } from '../ledger/account-statement.ts';
import { claimFor, createFixture } from '../store.fixture.ts';
import { listSubmissions, type SubmissionFilter } from '../submissions/submission-list.ts';

const all: SubmissionFilter = {
  status: null,
  idempotencyKey: null,
  createdAfter: null,
  createdBefore: null,
  after: null,
  limit: 100,
};

test('submissions are listed newest first, page by page, without rejected and foreign ones', async () => {
  const { store, tenant, hold } = await createFixture();
  const [tenantId, stranger] = [await tenant(), await tenant()];
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift((await hold(tenantId, { max: 1 })).id);
  await hold(stranger);
  const [rejected = ''] = ids.splice(2, 1);
  await rejectPending(store, rejected, { onlyOverdue: false });
  const listed = await listSubmissions(store, tenantId, all);
  expect(listed.map(({ id }) => id)).toEqual(ids);
  const [, second] = listed;
  if (second === undefined) throw new Error('nothing listed');
  const rest = await listSubmissions(store, tenantId, { ...all, after: second, limit: 1 });
  expect(rest.map(({ id }) => id)).toEqual([ids[2]]);
});

test('submissions are found by status, key and time, with the bounds of the contract', async () => {
  const { store, tenant, hold, advance } = await createFixture();
  const tenantId = await tenant();
  const { id: first } = await hold(tenantId, { key: 'one' });
  await advance(1_000);
  const { id: second } = await hold(tenantId, { key: 'two' });
  await cancelSubmission(store, { submissionId: first, tenantId, by: 'tenant' });
  const find = async (filter: Partial<SubmissionFilter>) => {
    const found = await listSubmissions(store, tenantId, { ...all, ...filter });
    return found.map(({ id }) => id);
  };
  expect(await find({ status: 'cancelled' })).toEqual([first]);
  expect(await find({ status: 'pending' })).toEqual([second]);
  for (const status of ['dispatched', 'running', 'submitted', 'failed'] as const) {
    expect(await find({ status })).toEqual([]);
  }
  expect(await find({ idempotencyKey: 'two' })).toEqual([second]);
  const [record] = await listSubmissions(store, tenantId, { ...all, idempotencyKey: 'two' });
  const createdAt = record?.createdAt ?? new Date(0);
  expect(await find({ createdAfter: createdAt })).toEqual([second]);
  expect(await find({ createdBefore: createdAt })).toEqual([first]);
});

test('the statement shows every movement with the balances after it, newest first', async () => {
  const { store, tenant, hold } = await createFixture();
  const tenantId = await tenant(1_000);
  const { id } = await hold(tenantId, { max: 200 });
  await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
  const page = { type: null, submissionId: null, after: null, limit: 2 };
  const first = await readStatement(store, tenantId, page);
  expect(first.lines).toMatchObject([
    { type: 'release', amountMicros: 200_000_000n, heldAfterMicros: 0n, submissionId: id },
    { type: 'hold', balanceAfterMicros: 1_000_000_000n, heldAfterMicros: 200_000_000n },
  ]);
  const last = await readStatement(store, tenantId, { ...page, after: first.nextAfter });
  expect(last).toMatchObject({ lines: [{ type: 'grant', submissionId: null }], nextAfter: null });
  expect(last.lines[0]?.reference).toMatch(/^opening-grant:tnt_/);
  const of = (filter: object) => readStatement(store, tenantId, { ...page, ...filter });
  expect((await of({ type: 'grant' })).lines).toHaveLength(1);
  expect((await of({ submissionId: id, type: 'hold' })).lines).toHaveLength(1);
  const stranger = await tenant();
  expect((await readStatement(store, stranger, { ...page, submissionId: id })).lines).toEqual([]);
});

test('holds and releases of rejected submissions are skipped, and pages stay full', async () => {
  const { store, tenant, hold } = await createFixture();
  const tenantId = await tenant(1_000);
  await hold(tenantId, { max: 1 });
  for (let index = 0; index < 12; index += 1) {
    const { id } = await hold(tenantId, { max: 1 });
    await rejectPending(store, id, { onlyOverdue: false });
  }
  const page = { type: null, submissionId: null, after: null, limit: 1 };
  const first = await readStatement(store, tenantId, page);
  expect(first.lines.map(({ type }) => type)).toEqual(['hold']);
  const second = await readStatement(store, tenantId, { ...page, after: first.nextAfter });
  expect(second.lines.map(({ type }) => type)).toEqual(['grant']);
  expect(second.nextAfter).toBeNull();
});

test('a delivery shows the attempts of its current round, to its own tenant only', async () => {
  const { store, tenant, hold } = await createFixture();
  const tenantId = await tenant(1_000, 'https://hooks.example.com/');
  const { id } = await hold(tenantId);
  await cancelSubmission(store, { submissionId: id, tenantId, by: 'tenant' });
  const page = { status: null, afterId: null, limit: 10 };
  const [pending] = await listDeliveries(store, tenantId, page);
  if (pending === undefined) throw new Error('no delivery');
  expect(pending).toMatchObject({
    type: 'submission.cancelled',
    status: 'pending',
    attempts: [],
  });
  const [attempt] = await claimFor(store, tenantId);
  if (attempt === undefined) throw new Error('no attempt');
  await recordAttempt(store, {
    ...attempt,
    statusCode: 500,
    durationMs: 12.4,
    error: null,
    responseText: 'no',
    verdict: { kind: 'exhausted' },
  });
  const ended = await findDelivery(store, tenantId, pending.id);
  expect(ended).toMatchObject({
    status: 'exhausted',
    nextAttemptAt: null,
    attempts: [{ number: 1, statusCode: 500, durationMs: 12, error: null, response: 'no' }],
  });
  expect(ended?.attempts[0]?.at).toBeInstanceOf(Date);
  expect(await findDelivery(store, await tenant(), pending.id)).toBeNull();
  const idsOf = async (filter: object) =>
    (await listDeliveries(store, tenantId, { ...page, ...filter })).map((one) => one.id);
  expect(await idsOf({ status: 'exhausted' })).toEqual([pending.id]);
  expect(await idsOf({ status: 'pending' })).toEqual([]);
  expect(await idsOf({ afterId: pending.id })).toEqual([]);
});
