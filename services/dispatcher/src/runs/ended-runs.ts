import { leaseMs } from '@svc/domain';
import { every, type Repeating } from '@svc/runtime';
import { findEnded } from '@svc/store';

import type { Dispatcher } from '../dispatcher.ts';
import { stopRun } from './runs.ts';

/**
 * A node whose run has ended otherwise is sent `cancel` when the message about it comes over the bus,
 * or when the node says something of the run. One that says nothing, and whose message was lost,
 * would work on, and keep its slot, for as long as its link lasts: so whoever holds the link also
 * looks for itself. Only at runs as old as a lease: with most there is nothing to look at.
 */
const lookIntervalMs = 5_000;

/** How many one look asks for; the next one goes on with others. */
const lookedAtMax = 500;

/** Goes on looking for runs that have ended and whose nodes were not told. */
export function stopEndedRuns(dispatcher: Dispatcher): Repeating {
  const { store, logger, clock } = dispatcher;
  async function look(): Promise<void> {
    const beforeMs = clock.monotonicMs() - leaseMs;
    const old = [...dispatcher.links.all]
      .flatMap(({ runs }) => [...runs.values()])
      .filter(({ isStopping, lookedAtMs }) => !isStopping && lookedAtMs <= beforeMs)
      .slice(0, lookedAtMax);
    if (old.length === 0) return;
    const submissionIds = old.map(({ submissionId }) => submissionId);
    for (const id of await findEnded(store, submissionIds)) stopRun(dispatcher, id);
    for (const run of old) run.lookedAtMs = clock.monotonicMs();
  }
  return every({ name: 'ended runs', intervalMs: lookIntervalMs, run: look, logger });
}
