import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { driveOpen } from './load/open-loop.ts';
import { arrivalsMs } from './load/schedule.ts';
import { wakeUpsBetween } from './load/wake-ups.ts';
import { rowsBetween } from './parts/rows.ts';
import { median } from './quantile.ts';
import { growthFigures } from './report/goal-figures.ts';
import { goalNames, goals, goalsTable, verdictLine } from './report/goals.ts';
import { latencyRatiosOf, medianOf, ratiosOf } from './report/medians.ts';
import { isHeld, percentilesOf, type Sample } from './sample.ts';

const latency = { p50Ms: 20, p95Ms: 30, p99Ms: 40 };
const sample: Sample = {
  perSecond: 50,
  created: 500,
  refused: 0,
  answered: latency,
  notified: latency,
  cpuMicros: { gateway: 100, postgres: 50 },
  totalCpuMicros: 150,
  wakeUps: { gateway: 4 },
  totalWakeUps: 4,
  walBytes: 9_000,
  memoryMib: {},
  backlog: { duePerSecond: 50, unanswered: 1, unnotified: 3, isAbandoned: false, lateP99Ms: 0.2 },
};
const behind = (more: Partial<NonNullable<Sample['backlog']>>): Sample => ({
  ...sample,
  backlog: {
    duePerSecond: 50,
    unanswered: 1,
    unnotified: 3,
    isAbandoned: false,
    lateP99Ms: 0,
    ...more,
  },
});

test('a schedule has the requests of its rate, in order, the same for every system', () => {
  const schedule = { perSecond: 300, seconds: 10, seed: 7 };
  const instants = arrivalsMs(schedule);
  expect(instants).toHaveLength(3_000);
  expect(instants).toEqual(instants.toSorted((one, other) => one - other));
  expect(instants[0]).toBeGreaterThanOrEqual(0);
  expect(instants.at(-1)).toBeLessThan(10_000);
  const inFirstHalf = instants.filter((instant) => instant < 5_000).length;
  expect(Math.abs(inFirstHalf - 1_500)).toBeLessThan(150);
  expect(arrivalsMs(schedule)).toEqual(instants);
  expect(arrivalsMs({ ...schedule, seed: 8 })).not.toEqual(instants);
});

test('an open loop sends requests without waiting for answers, and counts from the schedule', async () => {
  const schedule = { perSecond: 200, seconds: 0.1, seed: 1 };
  const instants = arrivalsMs(schedule);
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    waiting.push(response);
    if (waiting.length < instants.length) return;
    for (const [index, one] of waiting.entries()) {
      one.statusCode = 201;
      one.end(JSON.stringify({ submissionId: `sub_${index}` }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const tenants = [{ tenantId: 'tnt_1', hmacSecret: 'secret' }];
  const load = { gatewayUrls: [`http://127.0.0.1:${port}`], tenants };
  const { posts, refused } = await driveOpen(
    { ...load, pace: { kind: 'open', ...schedule } },
    schedule,
  );
  expect(refused).toEqual({});
  const dueMs = posts.map(({ dueAtMs }) => dueAtMs).toSorted((one, other) => one - other);
  const firstMs = (dueMs[0] ?? 0) - (instants[0] ?? 0);
  expect(dueMs).toEqual(instants.map((instant) => instant + firstMs));
  expect(new Set(posts.map(({ submissionId }) => submissionId)).size).toBe(instants.length);
  for (const { answeredAtMs } of posts)
    expect(answeredAtMs).toBeGreaterThanOrEqual(dueMs.at(-1) ?? Number.NaN);
});

test('requests of an open loop whose connection fails are counted', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${Object(server.address()).port}`;
  await new Promise((resolve) => server.close(resolve));
  const schedule = { perSecond: 300, seconds: 1, seed: 3 };
  const pace = { kind: 'open', ...schedule } as const;
  const { posts, refused } = await driveOpen({ gatewayUrls: [url], tenants: [], pace }, schedule);
  expect({ posts, refused }).toEqual({ posts: [], refused: { 0: 300 } });
});

test('a percentile is the smallest value that this share of the values does not exceed', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentilesOf(values)).toEqual({ p50Ms: 100, p95Ms: 190, p99Ms: 198 });
});

test('a rate is not held if a second of requests waits, or if many are refused', () => {
  expect(isHeld(sample)).toBe(true);
  expect(isHeld(behind({ unnotified: 50 }))).toBe(true);
  expect(isHeld(behind({ unnotified: 51 }))).toBe(false);
  expect(isHeld(behind({ unanswered: 51 }))).toBe(false);
  expect(isHeld(behind({ isAbandoned: true }))).toBe(false);
  expect(isHeld({ ...sample, refused: 10 })).toBe(true);
  expect(isHeld({ ...sample, refused: 11 })).toBe(false);
});

const rates = (perSecond: number): Sample => ({ ...sample, perSecond });

test('ratios compare the systems round by round, and latencies have none if a rate is not held', () => {
  const other = [rates(100), rates(50), rates(25)];
  expect(ratiosOf([[rates(50), rates(100), rates(75)], other], (one) => one.perSecond)).toEqual([
    0.5, 2, 3,
  ]);
  const late = [[behind({ isAbandoned: true }), rates(50)], other];
  expect(ratiosOf(late, (one) => one.perSecond)).toEqual([0.5, 1]);
  expect(latencyRatiosOf(late, (one) => one.perSecond)).toEqual([Number.POSITIVE_INFINITY, 1]);
});

test('each figure of a sample has its own median', () => {
  const rounds = [1, 3, 2].map((factor): Sample => ({
    ...sample,
    perSecond: 10 * factor,
    walBytes: 40 - 10 * factor,
    notified: { p50Ms: factor, p95Ms: 2 * factor, p99Ms: 3 * factor },
  }));
  expect(medianOf(rounds)).toEqual({
    ...sample,
    perSecond: 20,
    walBytes: 20,
    notified: { p50Ms: 2, p95Ms: 4, p99Ms: 6 },
  });
});

test('wake-ups count threads that are new, and not those that have ended', () => {
  const before = {
    postgres: new Map([
      ['old', 10],
      ['ended', 5],
    ]),
  };
  const after = {
    postgres: new Map([
      ['old', 14],
      ['new', 3],
    ]),
  };
  expect(wakeUpsBetween(before, after)).toEqual({ postgres: 7 });
});

test('rows are counted for each life, and heap-only updates as a share of the updates', () => {
  const none = { walBytes: 0, inserts: 100, updates: 100, hotUpdates: 50, deletes: 10 };
  const some = { walBytes: 0, inserts: 170, updates: 200, hotUpdates: 86, deletes: 20 };
  expect(rowsBetween(none, some, 10)).toEqual({
    lives: 10,
    inserts: 7,
    updates: 10,
    deletes: 1,
    hotShare: 0.36,
  });
});

test('the goals have a verdict each, by the medians of the rounds, and the last line counts them', () => {
  const figures = new Map([
    [goalNames.createdRate, [1, 2, 3]],
    [goalNames.createdCpu, [0.4, 0.51, 0.6]],
    [goalNames.oneP50, [Number.POSITIVE_INFINITY]],
  ]);
  const text = goalsTable(figures);
  expect(text).toContain('| created, 64 in flight: rate | ≥ 2 × | 2.00 × (1.00–3.00) | met |');
  expect(text).toContain('| created, 64 in flight: CPU | ≤ 0.5 × | 0.51 × (0.40–0.60) | missed |');
  expect(text).toContain('| created, 1 in flight: p50 | ≤ 1.2 × | not held | missed |');
  expect(text.split('Not measured: ')[1]?.split('; ')).toHaveLength(goals.length - 3);
  expect(verdictLine(figures)).toBe(
    `Verdict: 1 of ${goals.length} goals met, 2 missed, ${goals.length - 3} not measured.`,
  );
});

const withCpuRatios = (ratios: readonly number[]) => ({
  name: ratios.join(' '),
  medians: [],
  samples: [
    ratios.map((ratio) => ({ ...sample, totalCpuMicros: 100 * ratio })),
    ratios.map(() => ({ ...sample, totalCpuMicros: 100 })),
  ],
});

test('noise is no growth, and the growth of one shape counts', () => {
  const noisy = [
    withCpuRatios([0.9, 1, 1.2]),
    withCpuRatios([1.2, 0.9, 1]),
    withCpuRatios([1, 1.2, 0.9]),
  ];
  const cpuOf = (results: typeof noisy) => growthFigures(results).get(goalNames.growthCpu) ?? [];
  expect(median(cpuOf(noisy))).toBe(1);
  expect(cpuOf([...noisy, withCpuRatios([1.3, 1.2, 1.4])])).toEqual([1.3, 1.2, 1.4]);
});
