import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { assert, integer, nat, property, record as recordOf } from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '../simulation/random.ts';
import { checkHistory } from './check.ts';
import type { History, HistoryRecord } from './history.ts';
import { loadHistory, saveHistory } from './recorder.ts';
import { generateHistory } from './reference-model.fixture.ts';

const stepsMax = 250;
const seeds = recordOf({ seed: integer({ min: 0 }), steps: nat(stepsMax) });

test('every history of a serial service is accepted, even with overlapping requests', () => {
  assert(
    property(seeds, ({ seed, steps }) => {
      const history = generateHistory(createRandom(seed), steps);
      expect(checkHistory(history).violations).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

/**
 * Each function returns a false copy of one record of a correct history, or undefined for a record
 * that it does not change. No serial order explains a history with the false copy.
 */
const corruptions: Record<string, (record: HistoryRecord) => HistoryRecord | undefined> = {
  'a creation with a figure that is off by one': (record) => {
    if (record.kind !== 'create' || record.outcome.kind !== 'created') return undefined;
    const { outcome } = record;
    const availableAfterMicros = outcome.availableAfterMicros + 1n;
    return { ...record, outcome: { ...outcome, availableAfterMicros } };
  },
  'a balance that never existed': (record) =>
    record.kind === 'balance'
      ? { ...record, balanceMicros: record.balanceMicros + 1_000_000n }
      : undefined,
  'an attempt at another URL': (record) =>
    record.kind === 'webhook' ? { ...record, url: 'elsewhere' } : undefined,
  'an event under a second id': (record) =>
    record.kind === 'webhook' ? { ...record, eventId: 'another' } : undefined,
  'an end that another observer sees as another': (record) =>
    record.kind === 'status' && record.status === 'submitted'
      ? { ...record, status: 'failed' }
      : undefined,
  'a row of the ledger with another amount': (record) =>
    record.kind === 'line' && record.type === 'charge'
      ? { ...record, amountMicros: record.amountMicros + 1n }
      : undefined,
};

test.each(Object.entries(corruptions))('%s is found in any history', (_name, corrupt) => {
  let found = 0;
  for (let seed = 0; seed < 25; seed += 1) {
    const history = generateHistory(createRandom(seed), stepsMax);
    const index = history.findIndex((record) => corrupt(record) !== undefined);
    const record = history[index];
    const corrupted = record === undefined ? undefined : corrupt(record);
    if (corrupted === undefined) continue;
    // A changed ledger row or creation replaces the true record. Any other changed record is added
    // before the true one.
    const isRow = corrupted.kind === 'line' || corrupted.kind === 'create';
    const changed: History = isRow
      ? history.with(index, corrupted)
      : [...history.slice(0, index), corrupted, ...history.slice(index)];
    expect(checkHistory(changed).violations, `seed ${seed}`).not.toEqual([]);
    found += 1;
  }
  expect(found).toBeGreaterThan(10);
});

test('100,000 operations are checked within seconds', () => {
  const text = withPlaceholders(generateHistory(createRandom(1), 1_000));
  const history: HistoryRecord[] = [];
  for (let copy = 0; history.length < 100_000; copy += 1) history.push(...ofTenant(text, copy));
  const before = process.cpuUsage();
  expect(checkHistory(history).violations).toEqual([]);
  const { user, system } = process.cpuUsage(before);
  // The check takes about 0.5 s of CPU. A checker that compares all pairs takes minutes.
  expect((user + system) / 1e6).toBeLessThan(10);
});

const names = new Set(['tenant', 'id', 'submissionId', 'reference', 'eventId', 'answer']);

function withPlaceholders(history: History): string {
  return JSON.stringify(history, (name, value: unknown) => {
    if (typeof value === 'bigint') return `${value}`;
    return typeof value === 'string' && names.has(name) ? `${value}@@` : value;
  });
}

function ofTenant(text: string, copy: number): HistoryRecord[] {
  return JSON.parse(text.replaceAll('@@', `/${copy}`), (name, value: unknown) =>
    name.endsWith('Micros') && typeof value === 'string' ? BigInt(value) : value,
  );
}

test('a saved history is read back as recorded', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-history-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = path.join(dir, 'history.jsonl');
  const history = generateHistory(createRandom(1), stepsMax);
  await saveHistory(file, history);
  expect(await loadHistory(file)).toEqual(history);
});
