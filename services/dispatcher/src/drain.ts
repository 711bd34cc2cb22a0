import { nodeLinkCloseCodes } from '@svc/contracts';

import { inBackground, type Dispatcher } from './dispatcher.ts';
import { closeLink } from './links/end-link.ts';

/**
 * What a stopping dispatcher hands over (CONTRACT 7). First its nodes leave the fleet, so
 * that nobody reserves a slot here any more, while what is being offered comes to its end.
 */
export function leaveFleet(dispatcher: Dispatcher): void {
  for (const link of dispatcher.links.byNode.values()) {
    link.draining = true;
    const left = dispatcher.fleet.leave(link.nodeId, link.linkId);
    inBackground(dispatcher, 'take a link out of the fleet', left);
  }
}

/**
 * Then, each when the frames it has sent are done with, the links are closed (1012): the nodes
 * connect to another dispatcher, or to this one's successor, with everything they have in hand.
 */
export async function handBackLinks(dispatcher: Dispatcher): Promise<void> {
  const links = [...dispatcher.links.all];
  await Promise.all(
    links.map(async (link) => {
      await link.greeted;
      await link.work.idle();
      closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the dispatcher is restarting');
    }),
  );
}
