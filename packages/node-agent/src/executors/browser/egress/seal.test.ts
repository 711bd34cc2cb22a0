import { expect, test } from 'vitest';
import { createAdmission, type Entry } from './admission.ts';
import { admittanceOf, type Seal } from './seal.ts';

const to = { key: 'jobs.example:443', method: 'POST' };
const sealed = (slot: 'free' | 'used' | 'ended'): Seal => ({ kind: 'sealed', to, slot });
const tunnel = { key: to.key, method: undefined };
const other = { key: 'cdn.example:443', method: undefined };

test('an open proxy passes everything, and a shut one nothing', () => {
  expect(admittanceOf({ kind: 'open' }, other)).toBe('pass');
  expect(admittanceOf({ kind: 'shut' }, tunnel)).toBe('refuse');
});

test('the first connection to the destination takes the slot, and all others wait', () => {
  expect(admittanceOf(sealed('free'), tunnel)).toBe('take_slot');
  expect(admittanceOf(sealed('free'), other)).toBe('hold');
  expect(admittanceOf(sealed('used'), tunnel)).toBe('hold');
});

test('nothing passes after the one connection has ended', () => {
  for (const passage of [tunnel, other, { key: to.key, method: 'OPTIONS' }]) {
    expect(admittanceOf(sealed('ended'), passage)).toBe('refuse');
  }
});

test('plain HTTP takes the slot only with the method of the submission', () => {
  const admittances = ['POST', 'GET', 'OPTIONS'].map((method) =>
    admittanceOf(sealed('free'), { key: to.key, method }),
  );
  expect(admittances).toEqual(['take_slot', 'hold', 'pass']);
});

function collector() {
  const admission = createAdmission({ heldMax: 2 });
  const kinds: string[] = [];
  const entries: Entry[] = [];
  const enter = async (passage: typeof other): Promise<void> => {
    const entry = await admission.enter(passage);
    entries.push(entry);
    kinds.push(entry.kind);
  };
  return { admission, kinds, entries, enter };
}

test('a held connection passes at the release', async () => {
  const { admission, kinds, enter } = collector();
  admission.seal(to);
  const waiting = [enter(other), enter(tunnel), enter(tunnel)];
  await waiting[1];
  expect(kinds).toEqual(['slot']);
  admission.release();
  await Promise.all(waiting);
  expect(kinds).toEqual(['slot', 'pass', 'pass']);
});

test('held connections are refused when the one connection ends, and so are later ones', async () => {
  const { admission, kinds, entries, enter } = collector();
  admission.seal(to);
  const waiting = [enter(tunnel), enter(tunnel), enter(other)];
  await waiting[0];
  const [slot] = entries;
  if (slot?.kind === 'slot') slot.ended();
  await Promise.all(waiting);
  await enter(tunnel);
  expect(kinds).toEqual(['slot', 'refused', 'refused', 'refused']);
});

test('the end of the connection of an earlier seal changes nothing', async () => {
  const { admission, kinds, entries, enter } = collector();
  admission.seal(to);
  await enter(tunnel);
  admission.release();
  const [slot] = entries;
  if (slot?.kind === 'slot') slot.ended();
  await enter(other);
  expect(kinds).toEqual(['slot', 'pass']);
});

test('a shut refuses the connections that wait, and a later release has no effect', async () => {
  const { admission, kinds, enter } = collector();
  admission.seal(to);
  const waiting = enter(other);
  admission.shut();
  await waiting;
  admission.release();
  await enter(other);
  expect(kinds).toEqual(['refused', 'refused']);
});

test('more connections than the limit are refused instead of held', async () => {
  const { admission, kinds, enter } = collector();
  admission.seal(to);
  const waiting = [enter(other), enter(other)];
  await enter(other);
  expect(kinds).toEqual(['refused']);
  admission.release();
  await Promise.all(waiting);
});
