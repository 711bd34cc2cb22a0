import { stoppedDeadlineMs } from '@svc/domain';

import { inBackground, type Dispatcher } from './dispatcher.ts';
import { forgetHolder, type HeldRun, holdRun, type NodeLink } from './links.ts';

/**
 * Which submissions take a slot of which node. The truth is here, with the link; the fleet
 * registry is told, and told again with every entry of the link, so that no slot is lost for good.
 */

/** The submission takes one of the node's slots from now on. */
export function takeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): HeldRun {
  const present = link.runs.get(submissionId);
  if (present !== undefined) return present;
  const lookedAtMs = dispatcher.clock.monotonicMs();
  const run: HeldRun = { submissionId, isAssigned: false, isStopping: false, lookedAtMs };
  holdRun(dispatcher.links, link, run);
  return run;
}

/** The slot is free again. */
export function freeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.slotTimer?.clear();
  link.runs.delete(submissionId);
  forgetHolder(dispatcher.links, link, submissionId);
  inBackground(dispatcher, 'release a slot', dispatcher.fleet.release(link.nodeId, submissionId));
}

/** The node is to stop: its slot is free when it says `stopped`, or after 30 s. */
export function freeSlotLater(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.isStopping = true;
  run.slotTimer ??= dispatcher.timers.after(stoppedDeadlineMs, () =>
    freeSlot(dispatcher, link, submissionId),
  );
}
