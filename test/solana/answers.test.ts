import { createRpc, listSignatures, readSlot, signaturesPerPageMax } from '@svc/solana';
import { expect, test } from 'vitest';

function rpcThatAnswers(answer: object) {
  const body = Buffer.from(JSON.stringify(answer));
  const responded = {
    kind: 'responded',
    statusCode: 200,
    headers: {},
    body,
    durationMs: 1,
  } as const;
  const http = { post: async () => responded, close() {} };
  return createRpc({ url: 'http://rpc.test', http, budget: { take: async () => {} } });
}

test.each([
  ['the id of the call', { id: '1', result: 5 }, 'answered'],
  ['the id as a number', { id: 1, result: 5 }, 'answered'],
  ['another id', { id: '2', result: 5 }, 'failed'],
  ['no id', { result: 5 }, 'failed'],
  ['an error without an id', { id: null, error: { code: -32_600, message: 'm' } }, 'refused'],
  ['an error of a node that is behind', { id: '1', error: { code: -32_005 } }, 'busy'],
  ['an error about one block', { id: '1', error: { code: -32_004 } }, 'refused'],
  ['an error about the status of one block', { id: '1', error: { code: -32_014 } }, 'refused'],
])('an answer with %s is understood', async (_, answer, kind) => {
  expect(await rpcThatAnswers(answer).call('m', [])).toMatchObject({ kind });
});

test.each([
  ['more entries than asked for', 3, 'listed'],
  ['as many entries as a page may have', signaturesPerPageMax, 'listed'],
  ['more entries than a page may have', signaturesPerPageMax + 1, 'failed'],
])('a list with %s (%i) is %s', async (_, length, kind) => {
  const result = Array.from({ length }, () => ({ signature: '5'.repeat(88), slot: 1, err: null }));
  const list = await listSignatures(rpcThatAnswers({ id: '1', result }), 'a', { limit: 2 });
  expect([list.kind, 'entries' in list && list.entries.length]).toEqual([
    kind,
    kind === 'listed' && length,
  ]);
});

test.each([null, 'x', '5', -1, 1.5, 2 ** 53, [5], undefined])(
  'a slot of %j is not believed',
  async (slot) => {
    const entry = { signature: '5'.repeat(88), slot, err: null };
    const inList = rpcThatAnswers({ id: '1', result: [entry] });
    const newest = rpcThatAnswers({ id: '1', result: slot ?? null });
    expect(await listSignatures(inList, 'a', { limit: 2 })).toMatchObject({ kind: 'failed' });
    expect(await readSlot(newest)).toMatchObject({ kind: 'failed' });
  },
);
