import { appendFileSync } from 'node:fs';
import { openFixture } from '@svc/store/fixture';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LockWatch, watchLocks } from './locks.ts';
import { describeYear, judge } from './report.ts';
import { liveMonths } from './year.ts';

/**
 * Only the long run (`pnpm growth`) judges table bytes and lock times. In the short run, tables
 * have too few pages, and the machine may be busy.
 */
const months = process.env['GROWTH_MONTHS'];
const isLong = months !== undefined;
const plan = isLong
  ? { months: Number(months), retentionDays: 90, steps: 4, lives: 30, rows: 5_000 }
  : { months: 5, retentionDays: 30, steps: 1, lives: 3, rows: 200 };

/**
 * Ids contain the time of this process, so the process's clock must move with the database's clock.
 */
const setProcessTime = (at: Date) => void vi.setSystemTime(at);

const unwatched: LockWatch = {
  during: async (work) => void (await work()),
  times: () => ({
    samples: 0,
    holds: 0,
    waitMs: 0,
    holdMs: 0,
    gapMs: 0,
    netWaitMs: 0,
    netHoldMs: 0,
  }),
  close: async () => {},
};

test('tables with a retention stop growing, and nothing that is needed is deleted', async () => {
  const fixture = await openFixture();
  const locks = isLong ? await watchLocks(fixture.database) : unwatched;
  onTestFinished(async () => {
    vi.useRealTimers();
    await locks.close();
    await fixture.close();
  });
  const year = await liveMonths(fixture, locks, { ...plan, setProcessTime });
  const { verdict, faults } = judge(year, { plan, isLong });
  const file = process.env['GROWTH_REPORT'];
  if (file !== undefined) appendFileSync(file, `${describeYear(year)}${verdict}\n`);
  expect(faults).toEqual([]);
}, 1_800_000);
