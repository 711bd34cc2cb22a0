import { SubmissionPage, TransactionPage } from '@svc/contracts';
import { toWireId } from '@svc/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { bodyOf, refusalOf, submission } from './answers.fixture.ts';
import { type TestTenant, useGateways } from './gateway.fixture.ts';
import { decodeCursor, encodeCursor } from './http/cursor.ts';

const gateways = await useGateways();
beforeEach(() => {
  gateways.dispatching = 'accept';
});

const post = (tenant: TestTenant, key: string) =>
  tenant.send({ method: 'POST', target: '/v1/submissions', body: submission(key) });

async function walk<Item>(
  tenant: TestTenant,
  target: string,
  read: (response: Awaited<ReturnType<TestTenant['send']>>) => {
    data: Item[];
    nextCursor: string | null;
  },
): Promise<{ items: Item[]; lengths: number[] }> {
  const items: Item[] = [];
  const lengths: number[] = [];
  let cursor: string | null = null;
  do {
    const suffix: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = read(await tenant.send({ target: `${target}${suffix}` }));
    items.push(...page.data);
    lengths.push(page.data.length);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { items, lengths };
}

const list = (one: TestTenant, target: string) =>
  walk(one, target, (response) => bodyOf(response, SubmissionPage));

const types = async (one: TestTenant, query: string) => {
  const response = await one.send({ target: `/v1/credits/transactions?${query}` });
  return bodyOf(response, TransactionPage).data.map(({ type }) => type);
};

describe('submissions', () => {
  test('are listed newest first, in pages of full records', async () => {
    const [tenant, stranger] = [await gateways.tenant(), await gateways.tenant()];
    for (const key of ['a', 'b', 'c', 'd', 'e']) await post(tenant, key);
    gateways.dispatching = 'reject';
    await post(tenant, 'refused');
    const { items, lengths } = await list(tenant, '/v1/submissions?limit=2');
    expect(lengths).toEqual([2, 2, 1]);
    expect(items.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['e', 'd', 'c', 'b', 'a']);
    const [first] = items;
    const read = await tenant.send({ target: `/v1/submissions/${first?.id}` });
    expect(first).toEqual(read.json());
    expect((await list(stranger, '/v1/submissions?limit=2')).items).toEqual([]);
  });

  test('are found by status, key and time', async () => {
    const tenant = await gateways.tenant();
    await post(tenant, 'a b');
    await post(tenant, 'c');
    const keys = async (query: string) => {
      const response = await tenant.send({ target: `/v1/submissions?${query}` });
      return bodyOf(response, SubmissionPage).data.map((item) => item.idempotencyKey);
    };
    expect(await keys('status=dispatched')).toEqual(['c', 'a b']);
    expect(await keys('status=failed')).toEqual([]);
    expect(await keys('idempotencyKey=a%20b')).toEqual(['a b']);
    const all = await tenant.send({ target: '/v1/submissions' });
    const [newest] = bodyOf(all, SubmissionPage).data;
    expect(await keys(`createdAfter=${newest?.createdAt}`)).toEqual(['c']);
    expect(await keys(`createdBefore=${newest?.createdAt}`)).toEqual(['a b']);
  });

  test('cannot be listed with another list’s cursor or an invalid one', async () => {
    const tenant = await gateways.tenant();
    await post(tenant, 'a');
    const statement = await tenant.send({ target: '/v1/credits/transactions?limit=1' });
    const { nextCursor } = bodyOf(statement, TransactionPage);
    for (const cursor of [nextCursor, 'nonsense', `${nextCursor}x`]) {
      const response = await tenant.send({ target: `/v1/submissions?cursor=${cursor}` });
      expect(refusalOf(response)).toBe('422 validation_error cursor');
    }
  });
});

describe('the statement', () => {
  test('shows each movement with the figures after it, and omits refused creations', async () => {
    const tenant = await gateways.tenant({ credits: 1000.5 });
    await post(tenant, 'a');
    gateways.dispatching = 'reject';
    await post(tenant, 'refused');
    const response = await tenant.send({ target: '/v1/credits/transactions' });
    const { data, nextCursor } = bodyOf(response, TransactionPage);
    expect(nextCursor).toBeNull();
    expect(data).toMatchObject([
      { type: 'hold', amount: 200, balanceAfter: 1000.5, heldAfter: 200, availableAfter: 800.5 },
      { type: 'grant', amount: 1000.5, balanceAfter: 1000.5, heldAfter: 0, submissionId: null },
    ]);
    expect(data[1]?.reference).toBe(`opening-grant:${toWireId('tnt', tenant.uuid)}`);
    const { items } = await walk(tenant, '/v1/credits/transactions?limit=1', (page) =>
      bodyOf(page, TransactionPage),
    );
    expect(items).toEqual(data);
  });

  test('continues behind a cursor of an earlier version, and its cursors hide the size of the ledger', async () => {
    const tenant = await gateways.tenant();
    for (const key of ['a', 'b']) await post(tenant, key);
    const page = async (query: string) =>
      bodyOf(
        await tenant.send({ target: `/v1/credits/transactions?limit=1${query}` }),
        TransactionPage,
      );
    const first = await page('');
    const position = decodeCursor('transactions', first.nextCursor ?? '') ?? { id: '', atMs: 0 };
    expect(position.atMs).toBeGreaterThan(1_000_000);
    const former = encodeCursor('transactions', { ...position, atMs: 0 });
    const second = await page(`&cursor=${first.nextCursor}`);
    expect(second.data).toMatchObject([{ type: 'hold', heldAfter: 200 }]);
    expect((await page(`&cursor=${former}`)).data).toEqual(second.data);
  });

  test('can be filtered by submission or type, and is empty for a foreign submission', async () => {
    const [tenant, stranger] = [await gateways.tenant(), await gateways.tenant()];
    const created = await post(tenant, 'a');
    const id = /sub_[0-9a-z]{26}/.exec(created.text)?.[0];
    await tenant.send({ method: 'POST', target: `/v1/submissions/${id}/cancel` });
    expect(await types(tenant, `submissionId=${id}`)).toEqual(['release', 'hold']);
    expect(await types(tenant, `submissionId=${id}&type=hold`)).toEqual(['hold']);
    expect(await types(tenant, 'type=grant')).toEqual(['grant']);
    expect(await types(tenant, 'type=charge')).toEqual([]);
    expect(await types(stranger, `submissionId=${id}`)).toEqual([]);
    const unknown = toWireId('sub', tenant.uuid);
    expect(await types(stranger, `submissionId=${unknown}`)).toEqual([]);
    for (const query of ['submissionId=nonsense', 'type=rebate_accrual']) {
      const response = await tenant.send({ target: `/v1/credits/transactions?${query}` });
      expect(response.status).toBe(422);
    }
  });
});
