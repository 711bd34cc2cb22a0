import { nodeLinkCloseCodes } from '@svc/contracts';

import { inBackground, type Dispatcher } from './dispatcher.ts';
import { closeLink } from './links/end-link.ts';

/**
 * First step of a stop (CONTRACT 7): takes this dispatcher's nodes out of the fleet. No
 * dispatcher reserves a slot here any more, while the open offers come to their end.
 */
export function leaveFleet(dispatcher: Dispatcher): void {
  for (const link of dispatcher.links.byNode.values()) {
    link.draining = true;
    const left = dispatcher.fleet.leave(link.nodeId, link.linkId);
    inBackground(dispatcher, 'take a link out of the fleet', left);
  }
}

/**
 * Second step of a stop: closes each link (1012) when the frames that it has received are handled.
 * The nodes connect to another dispatcher, or to this one's successor, and their runs go on.
 */
export async function handBackLinks(dispatcher: Dispatcher): Promise<void> {
  const links = [...dispatcher.links.all];
  await Promise.all(
    links.map(async (link) => {
      await link.greeted;
      await link.work.idle();
      closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the dispatcher restarts');
    }),
  );
}
