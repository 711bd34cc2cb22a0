import { stoppedDeadlineMs } from '@svc/domain';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { removeFromIndex, hasEnded, type LinkRun, addRun, type NodeLink } from '../links/links.ts';

/**
 * `link.runs` is the authoritative list of the submissions that take a slot of a node. The fleet
 * registry has a copy, which `enterFleet` repairs.
 */

export function takeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): LinkRun {
  const present = link.runs.get(submissionId);
  if (present !== undefined) return present;
  const checkedAtMs = dispatcher.clock.monotonicMs();
  const run: LinkRun = { submissionId, isAssigned: false, isStopping: false, checkedAtMs };
  addRun(dispatcher.links, link, run);
  return run;
}

/**
 * The longest time from the commit of `dispatched` to the confirmation of the reserved slot in the
 * fleet registry. The slot is not confirmed if its run or its link has ended by then.
 */
export const confirmAfterMs = 500;

/**
 * Confirms the slot within `confirmAfterMs`. An unconfirmed slot becomes free in the registry when
 * its reservation expires.
 */
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
    // The slots of an ended link are not confirmed, because the dispatcher of the node's next link
    // enters the node's submissions in the registry.
    if (hasEnded(link)) continue;
    const confirmed = dispatcher.fleet.confirm(link.nodeId, submissionId);
    inBackground(dispatcher, 'confirm the reservation of a slot', confirmed);
  }
  unconfirmed.clear();
}

export function freeSlot(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.slotTimer?.clear();
  dispatcher.links.unconfirmed.delete(run);
  link.runs.delete(submissionId);
  removeFromIndex(dispatcher.links, link, submissionId);
  inBackground(dispatcher, 'release a slot', dispatcher.fleet.release(link.nodeId, submissionId));
}

/**
 * Marks the run as stopping. Frees its slot after 30 s if the node has not sent `stopped` by then.
 */
export function freeSlotLater(dispatcher: Dispatcher, link: NodeLink, submissionId: string): void {
  const run = link.runs.get(submissionId);
  if (run === undefined) return;
  run.isStopping = true;
  run.slotTimer ??= dispatcher.timers.after(stoppedDeadlineMs, () =>
    freeSlot(dispatcher, link, submissionId),
  );
}
