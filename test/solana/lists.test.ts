import * as solana from '@svc/solana';
import { expect, test } from 'vitest';
import { RpcUnavailable } from '../../services/settlement/src/solana/calls.ts';
import { askForSlot, slotMaxOf } from '../../services/settlement/src/solana/chain-slot.ts';
import {
  backlogMax,
  firstPageMax,
  overlapSlots,
  rememberedMax,
  slotsAheadMax,
} from '../../services/settlement/src/solana/limits.ts';
import { listAccount } from '../../services/settlement/src/solana/list-account.ts';
import { newAccountMemory, remember } from '../../services/settlement/src/solana/poll-account.ts';

/** Lists of a token account that are cut, lag or turn (decision 32). */

type Outcome = Awaited<ReturnType<solana.Rpc['call']>>;
type Slots = readonly number[];

const signatureOf = (entry: number) =>
  `${'5'.repeat(70)}${String(10 ** 9 + 10 * entry).replaceAll('0', 'z')}`;

/** An RPC server with these pages, then empty ones. The slot of an entry is the whole part of its number. */
function serverOf(...pages: readonly (Slots | Outcome)[]) {
  const asked: unknown[] = [];
  let kept = 0;
  const rpc = {
    call: async (_method: string, params: readonly unknown[]): Promise<Outcome> => {
      const page = pages[asked.length] ?? [];
      asked.push(params[1]);
      if ('kind' in page) return page;
      const result = page.map((entry) => {
        return { signature: signatureOf(entry), slot: Math.floor(entry), err: null };
      });
      return { kind: 'answered', result };
    },
  };
  const lease = { keep: async () => void (kept += 1) };
  return { asked, kept: () => kept, deps: { solana, rpc }, lease };
}

async function listed(
  pages: readonly (Slots | Outcome)[],
  cursor: { at: number | null; slot: number; floorSlot?: number },
  pagesAtMost?: number,
) {
  const { deps, lease } = serverOf(...pages);
  const { at, slot, floorSlot = 0 } = cursor;
  const from = { signature: at === null ? null : signatureOf(at), slot, floorSlot };
  const list = await listAccount(deps, lease, 'account', from, pagesAtMost);
  return [list.entries.map((one) => one.slot), list.isComplete, list.isCut];
}

const far = 10_000;

test.each<[string, readonly Slots[], Parameters<typeof listed>[1], unknown]>([
  ['ends at the cursor', [[3, 2, 1]], { at: 1, slot: 1 }, [[1, 2, 3], true, false]],
  [
    'ends at the cursor of a later page',
    [
      [4, 3],
      [2, 1],
    ],
    { at: 1, slot: 1 },
    [[1, 2, 3, 4], true, false],
  ],
  ['ends without the cursor', [[3, 2]], { at: 1, slot: 1 }, [[2, 3], false, false]],
  ['is empty, without a cursor', [], { at: null, slot: 0 }, [[], true, false]],
  ['is empty, with a cursor', [], { at: 1, slot: 1 }, [[], false, false]],
  ['ends, without a cursor', [[3, 2], [1]], { at: null, slot: 0 }, [[1, 2, 3], true, false]],
  [
    'repeats its page',
    [
      [3, 2],
      [3, 2],
    ],
    { at: null, slot: 0 },
    [[2, 3], true, false],
  ],
  [
    'overlaps its page',
    [
      [3, 2],
      [2, 1],
    ],
    { at: null, slot: 0 },
    [[1, 2, 3], true, false],
  ],
  ['turns within a page', [[1, 3, 2]], { at: 1, slot: 1 }, [[1, 2, 3], true, false]],
  [
    'reaches the overlap before the cursor',
    [[far, far - overlapSlots, far - overlapSlots - 1]],
    { at: far, slot: far },
    [[far - overlapSlots, far], true, false],
  ],
  [
    'has only slots before the overlap, behind a page that reached it',
    [[far], [far - overlapSlots - 1]],
    { at: null, slot: far },
    [[far], true, false],
  ],
  [
    'has one slot of the overlap on its second page',
    [[far], [far - overlapSlots, 1], []],
    { at: null, slot: far },
    [[far - overlapSlots, far], true, false],
  ],
  [
    'has only the first slot of the overlap',
    [[far - overlapSlots], [far - overlapSlots - 1]],
    { at: null, slot: far },
    [[far - overlapSlots], true, false],
  ],
  [
    'has the first slot of the cursor on two pages',
    [[far + 0.5], [far]],
    { at: null, slot: far, floorSlot: far },
    [[far, far], true, false],
  ],
  [
    'lags behind the overlap, without a cursor',
    [[far - overlapSlots - 1]],
    { at: null, slot: far },
    [[], false, false],
  ],
  [
    'lags behind the overlap, with a cursor that is not there',
    [[far + 1], [far - overlapSlots - 1]],
    { at: far, slot: far },
    [[far + 1], false, false],
  ],
  [
    'has slots before the first one of the cursor',
    [[far, far - 1, far - 2]],
    { at: null, slot: far, floorSlot: far - 1 },
    [[far - 1, far], true, false],
  ],
])('a list that %s', async (_, pages, cursor, expected) => {
  expect(await listed(pages, cursor)).toEqual(expected);
});

test('each page asks for what is before the last one, and keeps the lease', async () => {
  const { deps, lease, asked, kept } = serverOf([9, 8], [7, 6], [5]);
  await listAccount(deps, lease, 'account', { signature: signatureOf(5), slot: 5, floorSlot: 0 });
  const page = { commitment: 'finalized', limit: solana.signaturesPerPageMax };
  expect(asked).toEqual([
    { commitment: 'finalized', limit: firstPageMax },
    { ...page, before: signatureOf(8) },
    { ...page, before: signatureOf(6) },
  ]);
  expect(kept()).toBe(3);
});

test('a list of more pages than allowed is incomplete', async () => {
  const pages = [
    [4, 3],
    [2, 1],
  ];
  expect(await listed(pages, { at: 1, slot: 1 }, 1)).toEqual([[3, 4], false, false]);
  expect(await listed(pages, { at: 1, slot: 1 }, 2)).toEqual([[1, 2, 3, 4], true, false]);
});

test.each([0, 1])(
  'a list that is %i longer than may wait keeps its oldest signatures',
  async (more) => {
    const count = backlogMax + more;
    const slots = Array.from({ length: count }, (_, index) => count - index);
    const size = solana.signaturesPerPageMax;
    const pages = Array.from({ length: Math.ceil(count / size) }, (_, page) =>
      slots.slice(page * size, (page + 1) * size),
    );
    const [entries, isComplete, isCut] = await listed(pages, { at: null, slot: 0 });
    expect([isComplete, isCut]).toEqual([true, more > 0]);
    const kept = slots.toReversed().slice(0, backlogMax);
    expect(entries).toEqual(kept);
  },
);

test('within a slot, the list is in the order of the chain', async () => {
  const entries = [3, 2, 1].map((index) => ({ signature: signatureOf(index), slot: 5, err: null }));
  const { lease } = serverOf();
  const rpc = { call: async () => ({ kind: 'answered', result: entries }) as const };
  const cursor = { signature: signatureOf(1), slot: 5, floorSlot: 5 };
  const list = await listAccount({ solana, rpc }, lease, 'account', cursor);
  expect(list.entries.map(({ signature }) => signature)).toEqual([1, 2, 3].map(signatureOf));
});

test.each<[Outcome, number]>([
  [{ kind: 'busy', reason: 'later', retryAfterMs: 7_000 }, 7_000],
  [{ kind: 'failed', reason: 'no answer' }, 0],
  [{ kind: 'refused', code: 1, reason: 'refused' }, 0],
])('a call that is not answered fails the list: %o', async (outcome, retryAfterMs) => {
  const reason = 'reason' in outcome ? outcome.reason : '';
  const fails = async (work: Promise<unknown>) => {
    const error = await work.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RpcUnavailable);
    expect(error).toMatchObject({
      retryAfterMs,
      message: `a call to the RPC server failed: ${reason}`,
    });
  };
  await fails(listed([[3, 2], outcome], { at: 1, slot: 1 }));
  const { deps, lease } = serverOf(outcome);
  await fails(askForSlot(deps, lease, { newest: 0 }));
});

test('the chain is asked for its newest slot under the lease, and a cursor may be little beyond it', async () => {
  const { deps, lease, kept } = serverOf({ kind: 'answered', result: 7 });
  const chain = { newest: 0 };
  await askForSlot(deps, lease, chain);
  expect([chain, kept(), slotMaxOf(chain)]).toEqual([{ newest: 7 }, 1, 7 + slotsAheadMax]);
  const lost = { keep: () => Promise.reject(new Error('lost')) };
  await expect(askForSlot(deps, lost, chain)).rejects.toThrow('lost');
  const cursor = { signature: null, slot: 0, floorSlot: 0 };
  await expect(listAccount(deps, lost, 'account', cursor)).rejects.toThrow('lost');
});

test('the oldest of too many signatures is forgotten, and a repeated one is not the newest', () => {
  const memory = newAccountMemory();
  for (let index = 1; index <= rememberedMax; index += 1) remember(memory, `s${index}`, true);
  remember(memory, 's1', false);
  expect([memory.remembered.size, memory.remembered.get('s1')]).toEqual([rememberedMax, false]);
  remember(memory, 'one more', true);
  expect([memory.remembered.size, memory.remembered.has('s1')]).toEqual([rememberedMax, false]);
  expect(memory.remembered.has('s2')).toBe(true);
});
