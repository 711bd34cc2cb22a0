import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { listAudit } from '../audit-log/audit-list.ts';
import { cancelAsOperator, cancelSubmission, rejectPending } from '../endings/endings.ts';
import { createFixture, newSubmission } from '../store.fixture.ts';
import { holdSubmission } from './hold.ts';
import { type EverySubmissionFilter, listEverySubmission } from './operator-list.ts';
import { readTrace } from './trace.ts';

const everything: EverySubmissionFilter = {
  tenantId: null,
  states: null,
  createdAfter: null,
  before: null,
  limit: 10,
};

test('an operator lists the submissions of all tenants, including rejected ones, newest first', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const [one, other] = [await fixture.tenant(), await fixture.tenant()];
  const ids: string[] = [];
  for (const tenantId of [one, other, one]) ids.push((await fixture.hold(tenantId)).id);
  const [first = '', second = '', third = ''] = ids;
  await rejectPending(store, second, { onlyOverdue: false });
  await cancelSubmission(store, { submissionId: first, tenantId: one, by: 'tenant' });
  const records = (filter: Partial<EverySubmissionFilter>) =>
    listEverySubmission(store, { ...everything, ...filter });
  const listed = async (filter: Partial<EverySubmissionFilter>) =>
    (await records(filter)).map(({ id }) => id);
  const newestFirst = [first, second, third].toSorted().toReversed();
  expect(await listed({})).toEqual(newestFirst);
  expect(await listed({ limit: 1 })).toEqual(newestFirst.slice(0, 1));
  const [newest = null] = await records({ limit: 1 });
  expect(await listed({ before: newest })).toEqual(newestFirst.slice(1));
  expect(await listed({ states: ['pending'] })).toEqual([third]);
  expect(await listed({ states: ['rejected'] })).toEqual([second]);
  expect(await listed({ states: ['running', 'settling'] })).toEqual([]);
  expect(await listed({ tenantId: one })).toEqual(newestFirst.filter((id) => id !== second));
  expect(await listed({ tenantId: one, states: ['cancelled'] })).toEqual([first]);
  expect(await listed({ createdAfter: new Date(Date.now() + 60_000) })).toEqual([]);
});

test('the pages of a tenant have every submission once, even if ids are from clocks that differ', async () => {
  const { store, tenant } = await createFixture();
  const tenantId = await tenant();
  const laterIds = await newSubmission(store, tenantId);
  const held = [];
  for (const id of [laterIds.id, store.newId(), `00${laterIds.id.slice(2)}`]) {
    held.push(id);
    await holdSubmission(store, { ...(await newSubmission(store, tenantId)), id });
  }
  const paged: string[] = [];
  let before: EverySubmissionFilter['before'] = null;
  for (const _ of held) {
    const [next] = await listEverySubmission(store, { ...everything, tenantId, before, limit: 1 });
    if (next === undefined) break;
    paged.push(next.id);
    before = next;
  }
  expect(paged).toEqual(held.toReversed());
});

test.each([-60, 60])(
  'the age of a submission is by the database’s clock, even if its id is from a clock %s minutes off',
  async (offsetMinutes) => {
    const { store, tenant, database } = await createFixture();
    const submission = await newSubmission(store, await tenant());
    const time = (Date.now() + offsetMinutes * 60_000).toString(16).padStart(12, '0');
    const id = `${time.slice(0, 8)}-${time.slice(8)}${submission.id.slice(13)}`;
    await holdSubmission(store, { ...submission, id });
    const [row] = await database.query<{ at: Date }>('SELECT created_at AS at FROM submissions');
    const at = row?.at.getTime() ?? 0;
    const listedSince = (ms: number) =>
      listEverySubmission(store, { ...everything, createdAfter: new Date(at + ms) });
    expect(await listedSince(0)).toMatchObject([{ id }]);
    expect(await listedSince(1)).toEqual([]);
  },
);

test('an operator’s cancel releases the whole hold, and is audited once', async () => {
  const fixture = await createFixture();
  const { store } = fixture;
  const tenantId = await fixture.tenant(500);
  const { id } = await fixture.hold(tenantId);
  const cancelled = await cancelAsOperator(store, id, testAuthor);
  expect(cancelled).toMatchObject({ kind: 'cancelled', chargedMicros: 0n });
  expect(await cancelAsOperator(store, id, testAuthor)).toMatchObject({ kind: 'terminal' });
  expect(await cancelAsOperator(store, store.newId(), testAuthor)).toEqual({ kind: 'not_found' });
  expect(await fixture.figures(tenantId)).toEqual({ balance: 500, held: 0 });
  const filter = { actorId: null, subjectId: null, since: null, until: null, beforeId: null };
  const entries = await listAudit(store, { ...filter, action: 'submission.cancel', limit: 10 });
  expect(entries).toMatchObject([{ actorKind: 'local', actorName: 'test' }]);
  const trace = await readTrace(store, id);
  expect(trace).toMatchObject({
    submission: { state: 'cancelled', cancelledBy: 'operator', requestId: 'req-1' },
    entries: [{ type: 'hold' }, { type: 'release' }],
    events: [{ type: 'submission.cancelled', deliveries: [] }],
    offers: null,
    usageCount: 0,
  });
  expect(await readTrace(store, store.newId())).toBeNull();
});
