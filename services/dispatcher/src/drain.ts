import { nodeLinkCloseCodes } from '@svc/contracts';
import { dispatchDeadlineMs } from '@svc/domain';
import { inBackground, type Dispatcher } from './dispatcher.ts';
import { closeLink } from './links/end-link.ts';
import type { NodeLink } from './links/links.ts';

/** After a close with code 1012, a node waits up to this long before it connects again. */
const reconnectMsMax = 1_000;

/** Closes all links, so that the nodes connect to other dispatchers (CONTRACT 7). */
export async function handBackLinks(dispatcher: Dispatcher): Promise<void> {
  const { fleet, links, timers } = dispatcher;
  if (links.all.size > 1 && (await fleet.hasOthers(dispatcher.id).catch(() => false))) {
    // The other half takes offers while the nodes of the first half connect again.
    await handBack(dispatcher, halfOf([...links.all]));
    await new Promise<void>((resolve) => timers.after(reconnectMsMax, resolve));
  }
  await handBack(dispatcher, [...links.all]);
}

function halfOf(links: readonly NodeLink[]): NodeLink[] {
  return links.filter((_, index) => index % 2 === 0);
}

/**
 * Closes each link (1012) after its open offers have ended and its received frames are handled. The
 * runs of the nodes go on.
 */
async function handBack(dispatcher: Dispatcher, links: readonly NodeLink[]): Promise<void> {
  const { fleet } = dispatcher;
  await Promise.all(
    links.map(async (link) => {
      link.draining = true;
      // The node may soon have a link to another dispatcher. A submission that finds no slot waits
      // for that link, at most `movesWithinMs`, instead of being rejected at once.
      const left = fleet.leave(link.nodeId, link.linkId, { movesWithinMs: dispatchDeadlineMs });
      inBackground(dispatcher, 'remove a node link from the fleet registry', left);
      await link.greeted;
      // Wait for the frames that have been received.
      await link.work.idle();
      // Wait for the open offers. The link drains, so it gets no new one.
      await Promise.all([...link.offers.values()].map(({ ended }) => ended.promise));
      // Wait for the commits of the accepted offers.
      await link.work.idle();
      closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the dispatcher stops');
    }),
  );
}
