import { serviceEntry } from '@svc/local';
import { entryUnderTest } from '@svc/testkit';
import { expect, test } from 'vitest';
import { kindsCount } from './catalogue/schedule.ts';
import { describeFault, describeReport } from './report.ts';
import { runFaults } from './run.ts';
import { shortPace, shortSize } from './sizes.ts';

/**
 * The short form of `pnpm faults`, with the whole audit (docs/RELIABILITY.md). Each kind of fault
 * that has a target on this machine strikes at least once.
 */
const faults = kindsCount;
const seed = 7;

test(`the three promises hold under ${faults} faults`, async () => {
  const report = await runFaults({
    faults,
    seed,
    minutes: 0,
    perSecond: 8,
    size: shortSize,
    pace: shortPace,
    movesClock: true,
    entryOf: (service) => entryUnderTest(serviceEntry(service)),
  });
  const described = [...report.struck.map(describeFault), ...describeReport(report)].join('\n');
  expect(report.violations.length === 0 ? 'held' : described).toBe('held');
  expect(report.struck).toHaveLength(faults);
  expect(report.submissions).toBeGreaterThan(100);
  expect(report.checks.filter(({ count }) => count === 0)).toEqual([]);
  expect(report.checks.length).toBeGreaterThan(25);
}, 600_000);
