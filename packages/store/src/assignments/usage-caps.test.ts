import { capUsage, decimalOf, parseDecimal, type Usage, usageToNumbers } from '@svc/domain';
import { expect, test } from 'vitest';
import { settle } from '../endings/endings.ts';
import { createFixture, usage } from '../store.fixture.ts';
import { readTrace } from '../submissions/trace.ts';
import { commitRunning } from './begin.ts';
import { commitDispatched } from './dispatch.ts';
import { storeOutcome } from './outcomes.ts';
import { recordUsage } from './usage-reports.ts';

async function createRuns() {
  const fixture = await createFixture();
  const { store, tenant, hold, node, database } = fixture;
  const tenantId = await tenant(100_000);
  const nodeId = await node();
  return {
    ...fixture,
    nodeId,
    begin: async (): Promise<string> => {
      const { id: submissionId } = await hold(tenantId);
      await commitDispatched(store, { submissionId, nodeId });
      await commitRunning(store, { submissionId, nodeId });
      return submissionId;
    },
    complete: async (submissionId: string, reported: Usage): Promise<void> => {
      const outcome = { kind: 'completed', usage: reported, result: {} } as const;
      await storeOutcome(store, { submissionId, nodeId, outcome });
    },
    stored: async (submissionId: string) => {
      const [row] = await database.query<{
        usage: Usage;
        isCapped: boolean;
        elapsedMs: number;
        [unit: string]: unknown;
      }>(
        `SELECT usage_cpu_seconds::float8 AS "cpuSeconds", usage_memory_gb_seconds::float8 AS "memoryGbSeconds",
           usage_bandwidth_mb::float8 AS "bandwidthMb", usage_actions::float8 AS actions,
           usage_capped AS "isCapped", (extract(epoch FROM outcome_at - started_at) * 1000)::float8 AS "elapsedMs"
         FROM submissions WHERE id = $1`,
        [submissionId],
      );
      if (row === undefined) throw new Error('no such submission');
      return row;
    },
  };
}

const limitless = usage({
  cpuSeconds: '1e12',
  memoryGbSeconds: '1e12',
  bandwidthMb: '1e12',
  actions: '1e12',
});
const one = decimalOf(1n, 0);

test.each([0, 14, 1_000, 61_337])(
  'a report after %d ms is cut as the domain cuts it',
  async (ms) => {
    const { begin, complete, stored, advance } = await createRuns();
    const submissionId = await begin();
    if (ms > 0) await advance(ms);
    await complete(submissionId, limitless);
    const { elapsedMs, isCapped, ...amounts } = await stored(submissionId);
    const capped = capUsage(limitless, BigInt(elapsedMs), one);
    expect(amounts).toEqual(usageToNumbers(capped.usage));
    expect(isCapped).toBe(true);
  },
);

test('each unit alone marks the submission, and usage within the caps does not', async () => {
  const { begin, complete, stored } = await createRuns();
  const within = { cpuSeconds: '5', memoryGbSeconds: '5', bandwidthMb: '50', actions: '100' };
  const honest = await begin();
  await complete(honest, usage({ nodeSeconds: '1e9', ...within }));
  const { isCapped, elapsedMs: _, ...amounts } = await stored(honest);
  expect([isCapped, amounts]).toEqual([
    false,
    { cpuSeconds: 5, memoryGbSeconds: 5, bandwidthMb: 50, actions: 100 },
  ]);
  for (const unit of ['cpuSeconds', 'memoryGbSeconds', 'bandwidthMb', 'actions'] as const) {
    const submissionId = await begin();
    await complete(submissionId, usage({ ...within, [unit]: '1e9' }));
    expect((await stored(submissionId)).isCapped).toBe(true);
  }
});

test('a report during the run is cut too, and the mark stays if the outcome reports less', async () => {
  const { store, nodeId, begin, complete, stored, database } = await createRuns();
  const submissionId = await begin();
  await recordUsage(store, { submissionId, nodeId, usage: usage({ actions: '1e12' }) });
  const [report] = await database.query<{ actions: number }>(
    'SELECT actions::float8 AS actions FROM usage_reports WHERE submission_id = $1',
    [submissionId],
  );
  expect(report?.actions).toBeLessThan(10_000);
  await complete(submissionId, usage({ actions: '1' }));
  expect((await stored(submissionId)).isCapped).toBe(true);
  expect((await readTrace(store, submissionId))?.usageCapped).toBe(true);
});

test('cut usage is charged at the cap, reported when it settles, and left out of the running totals', async () => {
  const { store, begin, complete, database } = await createRuns();
  const [inflated, honest] = [await begin(), await begin()];
  await complete(inflated, usage({ actions: '1e12' }));
  await complete(honest, usage({ actions: '8' }));
  const ended = await settle(store, [inflated, honest]);
  expect(ended.map(({ usageCapped }) => usageCapped)).toEqual([true, false]);
  // Without the cap, the charge would be the whole hold, 200 credits. The cap is 100 actions, plus
  // 50 for each second of the run. An action costs 0.5 credits.
  expect(Number(ended[0]?.chargedMicros)).toBeLessThan(150e6);
  const figures = await database.query(
    'SELECT settled_count::int AS settled, actions::float8 AS actions FROM job_type_usage',
  );
  expect(figures).toEqual([{ settled: 1, actions: 8 }]);
});

test('a factor multiplies the caps', async () => {
  const { store, nodeId, begin, stored } = await createRuns();
  const submissionId = await begin();
  const outcome = { kind: 'completed', usage: limitless, result: {} } as const;
  await storeOutcome({ ...store, usageCapFactor: '2.5' }, { submissionId, nodeId, outcome });
  const { elapsedMs, isCapped: _, ...amounts } = await stored(submissionId);
  const factor = parseDecimal('2.5') ?? one;
  expect(amounts).toEqual(usageToNumbers(capUsage(limitless, BigInt(elapsedMs), factor).usage));
});
