import { stoppedDeadlineMs } from '@svc/domain';

import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { forgetHolder, hasEnded, type HeldRun, holdRun, type NodeLink } from '../links/links.ts';

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

/**
 * How much later the registry is told that a reserved slot is taken for good: many are told together
 * then, and of a run that has ended before, it need not be told at all.
 */
export const confirmAfterMs = 500;

/** The slot stays taken when its reservation has run out. */
export function confirmSlotLater(dispatcher: Dispatcher, link: NodeLink, run: HeldRun): void {
  const { unconfirmed } = dispatcher.links;
  if (unconfirmed.size === 0) {
    dispatcher.timers.after(confirmAfterMs, () => confirmSlots(dispatcher));
  }
  unconfirmed.set(run, link);
}

function confirmSlots(dispatcher: Dispatcher): void {
  const { unconfirmed } = dispatcher.links;
  for (const [{ submissionId }, link] of unconfirmed) {
    // Where the node has linked again, whoever holds that link says what is in hand.
    if (hasEnded(link)) continue;
    const confirmed = dispatcher.fleet.confirm(link.nodeId, submissionId);
    inBackground(dispatcher, 'confirm a slot', confirmed);
  }
  unconfirmed.clear();
}

/** The slot is free again. */
export function freeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.slotTimer?.clear();
  dispatcher.links.unconfirmed.delete(run);
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
