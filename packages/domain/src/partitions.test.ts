import { expect, test } from 'vitest';
import { eventsExpireBefore, expiredPartitions, missingPartitions } from './partitions.ts';

const range = (from: string, to: string) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) });
const shown = (nowText: string, existing: readonly { fromMs: number; toMs: number }[]) =>
  missingPartitions(Date.parse(nowText), existing).map(({ fromMs, toMs }) =>
    [fromMs, toMs].map((ms) => new Date(ms).toISOString().replace(':00.000Z', '')).join(' '),
  );

test('last month, this month and the next three are created, across a year', () => {
  expect(shown('2026-11-30T23:59:59.999Z', [])).toEqual([
    '2026-10-01T00:00 2026-11-01T00:00',
    '2026-11-01T00:00 2026-12-01T00:00',
    '2026-12-01T00:00 2027-01-01T00:00',
    '2027-01-01T00:00 2027-02-01T00:00',
    '2027-02-01T00:00 2027-03-01T00:00',
  ]);
  expect(shown('2026-12-01T00:00:00.000Z', [])[0]).toBe('2026-11-01T00:00 2026-12-01T00:00');
});

test('nothing is missing once every month is covered', () => {
  const now = Date.parse('2027-03-15T12:00Z');
  expect(missingPartitions(now, missingPartitions(now, []))).toEqual([]);
});

test('only the gaps between irregular partitions are missing', () => {
  const existing = [
    range('2026-10-01T00:00Z', '2026-12-01T00:00Z'),
    range('2026-12-01T01:00Z', '2026-12-31T01:00Z'),
    range('2027-01-31T23:00Z', '2027-03-01T00:00Z'),
  ];
  expect(shown('2026-11-15T00:00Z', existing)).toEqual([
    '2026-12-01T00:00 2026-12-01T01:00',
    '2026-12-31T01:00 2027-01-01T00:00',
    '2027-01-01T00:00 2027-01-31T23:00',
  ]);
});

test('a partition expires when its last row is older than the retention, the oldest first', () => {
  const october = range('2026-10-01T00:00Z', '2026-11-01T00:00Z');
  const september = range('2026-09-01T00:00Z', '2026-10-01T00:00Z');
  const november = range('2026-11-01T00:00Z', '2026-12-01T00:00Z');
  const existing = [november, october, september];
  const expired = (nowText: string) => expiredPartitions(Date.parse(nowText), existing, 30);
  expect(expired('2026-10-30T23:59:59.999Z')).toEqual([]);
  expect(expired('2026-10-31T00:00Z')).toEqual([september]);
  expect(expired('2026-12-01T00:00Z')).toEqual([september, october]);
});

test('events are kept as long as their month of deliveries, and at least for the retention', () => {
  const now = Date.parse('2027-01-15T00:00Z');
  const before = (existing: Parameters<typeof eventsExpireBefore>[1]) =>
    new Date(eventsExpireBefore(now, existing, 30)).toISOString().slice(0, 10);
  expect(before([range('2026-11-01T00:00Z', '2026-12-01T00:00Z')])).toBe('2026-11-01');
  expect(before([range('2027-01-01T00:00Z', '2027-02-01T00:00Z')])).toBe('2026-12-16');
  expect(before([])).toBe('2026-12-16');
});
