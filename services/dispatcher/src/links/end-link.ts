import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { removeFromIndex, type NodeLink } from './links.ts';
import { reportOfferResult } from './report-offer-result.ts';

/**
 * Ends a link, unless it has already ended. Reports its open offers as `lost`, so that the
 * dispatchers that offer these submissions ask other nodes. The node keeps its assignments.
 */
export function endLink(dispatcher: Dispatcher, link: NodeLink): void {
  if (link.state === 'ended') return;
  const hasSaidHello = link.state !== 'connected';
  link.state = 'ended';
  link.helloTimer?.clear();
  const { all, byNode } = dispatcher.links;
  all.delete(link);
  if (byNode.get(link.nodeId) === link) byNode.delete(link.nodeId);
  const nowMs = dispatcher.clock.monotonicMs();
  for (const { message, timer, sentAtMs, ended } of link.offers.values()) {
    timer.clear();
    dispatcher.timeOffer('disconnected', nowMs - sentAtMs);
    ended.resolve();
    reportOfferResult(dispatcher, message, 'lost');
  }
  link.offers.clear();
  for (const run of link.runs.values()) {
    run.slotTimer?.clear();
    removeFromIndex(dispatcher.links, link, run.submissionId);
  }
  if (!hasSaidHello) return;
  const left = dispatcher.fleet.leave(link.nodeId, link.linkId);
  inBackground(dispatcher, 'remove a node link from the fleet registry', left);
}

export function closeLink(
  dispatcher: Dispatcher,
  link: NodeLink,
  code: number,
  reason: string,
): void {
  endLink(dispatcher, link);
  link.transport.close(code, reason);
}
