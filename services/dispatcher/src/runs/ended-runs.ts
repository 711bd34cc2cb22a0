import { leaseMs } from '@svc/domain';
import { runPeriodically, type Repeating } from '@svc/runtime';
import { findEnded } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';
import { stopRun } from './runs.ts';

/**
 * The interval of polls for runs that have ended elsewhere. The bus message `stop_submission`
 * reports such an end, but may be lost.
 */
const pollIntervalMs = 5_000;

/** The most runs that one poll checks; the next poll checks others. */
const checkedMax = 500;

/** Stops the runs of those submissions that have ended. */
export async function stopEnded(
  dispatcher: Dispatcher,
  submissionIds: readonly string[],
): Promise<void> {
  if (submissionIds.length === 0) return;
  for (const id of await findEnded(dispatcher.store, submissionIds)) stopRun(dispatcher, id);
}

export function stopEndedRuns(dispatcher: Dispatcher): Repeating {
  const { logger, clock } = dispatcher;
  async function poll(): Promise<void> {
    // A poll checks a run only if the run took its slot at least `leaseMs` ago, because most runs
    // end earlier. A checked run is checked again after `leaseMs` or later.
    const beforeMs = clock.monotonicMs() - leaseMs;
    const old = [...dispatcher.links.all]
      .flatMap(({ runs }) => [...runs.values()])
      .filter(({ isStopping, checkedAtMs }) => !isStopping && checkedAtMs <= beforeMs)
      .slice(0, checkedMax);
    if (old.length === 0) return;
    const submissionIds = old.map(({ submissionId }) => submissionId);
    // Without this call, a run whose `stop_submission` was lost could keep its slot until the link
    // ends.
    await stopEnded(dispatcher, submissionIds);
    for (const run of old) run.checkedAtMs = clock.monotonicMs();
  }
  return runPeriodically({ name: 'ended runs', intervalMs: pollIntervalMs, run: poll, logger });
}

/**
 * Asks Postgres before it stops the run, because anybody who can write to Redis can send
 * `stop_submission` (docs/RELIABILITY.md).
 */
export async function stopIfEnded(dispatcher: Dispatcher, submissionId: string): Promise<void> {
  for (const id of await findEnded(dispatcher.store, [submissionId])) stopRun(dispatcher, id);
}
