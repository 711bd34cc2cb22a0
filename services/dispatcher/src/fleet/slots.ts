import { stoppedDeadlineMs } from '@svc/domain';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { removeFromIndex, hasEnded, type LinkRun, addRun, type NodeLink } from '../links/links.ts';

/**
 * Tracks which submissions take a slot of which node. The link has the truth. The fleet registry
 * gets a copy, and every entry of the link sends it again, so that no slot is lost for good.
 */

/** Takes one of the node's slots for the submission. Safe to call again. */
export function takeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): LinkRun {
  const present = link.runs.get(submissionId);
  if (present !== undefined) return present;
  const checkedAtMs = dispatcher.clock.monotonicMs();
  const run: LinkRun = { submissionId, isAssigned: false, isStopping: false, checkedAtMs };
  addRun(dispatcher.links, link, run);
  return run;
}

/**
 * The delay before the registry learns that a reserved slot is taken. The dispatcher confirms many
 * slots together, and does not confirm the slot of a run that has ended in the meantime.
 */
export const confirmAfterMs = 500;

/** Keeps the slot taken after its reservation expires. */
export function confirmSlotLater(dispatcher: Dispatcher, link: NodeLink, run: LinkRun): void {
  const { unconfirmed } = dispatcher.links;
  if (unconfirmed.size === 0) {
    dispatcher.timers.after(confirmAfterMs, () => confirmSlots(dispatcher));
  }
  unconfirmed.set(run, link);
}

function confirmSlots(dispatcher: Dispatcher): void {
  const { unconfirmed } = dispatcher.links;
  for (const [{ submissionId }, link] of unconfirmed) {
    // If the node has linked again, the dispatcher of that link registers its submissions.
    if (hasEnded(link)) continue;
    const confirmed = dispatcher.fleet.confirm(link.nodeId, submissionId);
    inBackground(dispatcher, 'confirm a slot', confirmed);
  }
  unconfirmed.clear();
}

/** Frees the slot of the submission. Safe to call again. */
export function freeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.slotTimer?.clear();
  dispatcher.links.unconfirmed.delete(run);
  link.runs.delete(submissionId);
  removeFromIndex(dispatcher.links, link, submissionId);
  inBackground(dispatcher, 'release a slot', dispatcher.fleet.release(link.nodeId, submissionId));
}

/** Frees the slot of a run that must stop: when the node sends `stopped`, or after 30 s. */
export function freeSlotLater(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.isStopping = true;
  run.slotTimer ??= dispatcher.timers.after(stoppedDeadlineMs, () =>
    freeSlot(dispatcher, link, submissionId),
  );
}
