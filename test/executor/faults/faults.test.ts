import { chromiumBinary, nodeAgentEntry } from '@svc/local';
import { entryUnderTest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { planRun, targets } from './plan.ts';
import { describeEnd, runTrial } from './trial.ts';

/** The size of this short form of `pnpm executor:faults` (CONTRACT 10, "At most once"). */
const runs = 24;
const slots = 2;
const seed = 2;

test(`${runs} killed runs: no application arrives twice, or denied, or unreported`, async () => {
  const binary = await chromiumBinary();
  const bundle = entryUnderTest(nodeAgentEntry);
  const report = await runTrial({ runs, seed, lanes: 2, slots, binary, bundle });
  expect(report.violations).toEqual([]);
  expect(report.runs).toBe(runs);
  // The trial proves something only if enough applications arrived, and if runs ended in each of
  // these three ways.
  expect(report.received).toBeGreaterThan(runs / 4);
  expect(report.ends.get('completed')).toBeGreaterThan(0);
  expect(report.ends.get('node_error, not submitted')).toBeGreaterThan(0);
  expect(report.ends.get('node_error')).toBeGreaterThan(0);
}, 600_000);

test('a plan depends on its seed and number only, and every target occurs', () => {
  const plans = Array.from({ length: runs }, (_, run) => planRun(seed, run));
  expect(plans).toEqual(Array.from({ length: runs }, (_, run) => planRun(seed, run)));
  expect(new Set(plans.map(({ target }) => target))).toEqual(new Set(targets));
});

test('a failure that denies a submission is counted apart from others', () => {
  const failure = { code: 'node_error', message: 'x' } as const;
  const usage = { nodeSeconds: 1 };
  const failed = { type: 'failed', submissionId: 'sub_1', usage } as const;
  expect(describeEnd({ ...failed, failure: { ...failure, submitted: false } })).toBe(
    'node_error, not submitted',
  );
  expect(describeEnd({ ...failed, failure })).toBe('node_error');
});
