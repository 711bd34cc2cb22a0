import { expect, test } from 'vitest';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import {
  holdFence,
  LeaseLost,
  noteWatcherState,
  releaseWatcherLease,
  takeWatcherLease,
} from './lease.ts';
import { readWatcherStatus } from './operating.ts';
import { leaseMs, openRail } from './rail.fixture.ts';

test.each([
  ['1 ms before its end', leaseMs - 1, false],
  ['at its end', leaseMs, true],
  ['by a clock at which it ends after twice its time', -leaseMs, false],
  ['by a clock at which it ends even later', -leaseMs - 1, true],
])('another watcher takes a lease %s (%i ms): %s', async (_, ms, isTaken) => {
  const { store, clockAt, epoch, openedAt } = await openRail();
  await clockAt(ms);
  const lease = await takeWatcherLease(store, { holder: 'other', leaseMs });
  const at = new Date(openedAt.getTime() + ms);
  expect(lease).toEqual(isTaken ? { epoch: epoch + 1n, at } : null);
  const { holder, isHeld } = await readWatcherStatus(store, 1);
  expect({ holder, isHeld }).toEqual({
    holder: isTaken ? 'other' : 'watcher',
    isHeld: isTaken || ms < leaseMs,
  });
});

test('a renewed lease keeps its epoch and lasts from then on', async () => {
  const { store, clockAt, epoch } = await openRail();
  const take = (holder: string) => takeWatcherLease(store, { holder, leaseMs });
  await clockAt(leaseMs - 1);
  expect(await take('watcher')).toMatchObject({ epoch });
  await clockAt(2 * leaseMs - 2);
  expect(await take('other')).toBeNull();
  await clockAt(2 * leaseMs - 1);
  expect(await take('other')).toMatchObject({ epoch: epoch + 1n });
});

test('a watcher releases only its own lease, and a new holder gets another epoch', async () => {
  const { store, epoch } = await openRail();
  const take = (holder: string) => takeWatcherLease(store, { holder, leaseMs });
  await releaseWatcherLease(store, 'other');
  expect(await take('other')).toBeNull();
  await releaseWatcherLease(store, 'watcher');
  expect(await readWatcherStatus(store, 1)).toMatchObject({ holder: null, isHeld: false });
  expect(await take('watcher')).toMatchObject({ epoch: epoch + 1n });
});

test('the fence holds back the next watcher until the commit', async () => {
  const rail = await openRail();
  const { store, epoch, clockAt } = rail;
  await clockAt(leaseMs);
  const { query, commit } = await beginOther(rail);
  const held = holdFence(async (text, values) => {
    await query(text, [...values]);
    return [];
  }, epoch);
  await expect(held).rejects.toThrow(LeaseLost);
  const taken = takeWatcherLease(store, { holder: 'other', leaseMs });
  await untilLockWait(rail);
  await commit();
  expect(await taken).toMatchObject({ epoch: epoch + 1n });
  await expect(holdFence(store.query, epoch)).rejects.toThrow(LeaseLost);
  await expect(holdFence(store.query, epoch)).rejects.toThrow(
    'another process watches the Solana payments now',
  );
});

test('the state of the watcher keeps the last answer, and the former holder writes none', async () => {
  const { store, epoch, clockAt, openedAt, refuseWrites } = await openRail();
  const after = (ms: number) => new Date(openedAt.getTime() + ms);
  await noteWatcherState(store, epoch, { rpcAnswered: true, problem: null });
  await clockAt(1_000);
  await noteWatcherState(store, epoch, { rpcAnswered: false, problem: 'no answer' });
  await clockAt(2_000);
  await noteWatcherState(store, epoch - 1n, { rpcAnswered: true, problem: 'old' });
  expect(await readWatcherStatus(store, 1)).toMatchObject({
    epoch,
    polledAt: after(1_000),
    rpcAnsweredAt: after(0),
    problem: 'no answer',
  });
  await refuseWrites('solana_watcher');
  const state = { rpcAnswered: true, problem: null };
  await expect(noteWatcherState(store, epoch, state)).rejects.toThrow('not now');
  await expect(releaseWatcherLease(store, 'watcher')).rejects.toThrow('not now');
});
