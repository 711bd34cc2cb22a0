import { nodeLinkCloseCodes } from '@svc/contracts';
import { dispatchDeadlineMs } from '@svc/domain';
import { inBackground, type Dispatcher } from './dispatcher.ts';
import { closeLink } from './links/end-link.ts';

/**
 * First step of a stop (CONTRACT 7), after the last submission that this dispatcher coordinates: takes its
 * nodes out of the fleet. No dispatcher reserves a slot here any more, while the open offers come to their
 * end. A submission that finds no slot meanwhile waits for these nodes to arrive at another dispatcher.
 */
export function leaveFleet(dispatcher: Dispatcher): void {
  for (const link of dispatcher.links.byNode.values()) {
    link.draining = true;
    const left = dispatcher.fleet.leave(link.nodeId, link.linkId, {
      movesWithinMs: dispatchDeadlineMs,
    });
    inBackground(dispatcher, 'take a link out of the fleet', left);
  }
}

/**
 * Second step of a stop: closes each link (1012) when its open offers have ended and the frames that
 * it has received are handled. Another dispatcher may coordinate these offers. An offer ends within
 * `offerTimeoutMs`. The nodes connect to another dispatcher, or to this one's successor, and their
 * runs go on.
 */
export async function handBackLinks(dispatcher: Dispatcher): Promise<void> {
  const links = [...dispatcher.links.all];
  await Promise.all(
    links.map(async (link) => {
      await link.greeted;
      // The link is draining, so that no offer is sent after the work that is in progress now.
      await link.work.idle();
      await Promise.all([...link.offers.values()].map(({ ended }) => ended.promise));
      await link.work.idle();
      closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the dispatcher restarts');
    }),
  );
}
