import { nodeLinkCloseCodes, type DispatcherMessage } from '@svc/contracts';

import { inBackground, type Dispatcher } from './dispatcher.ts';
import { closeLink } from './end-link.ts';
import { refreshFleet } from './fleet-member.ts';
import { followNode } from './node-standing.ts';
import { makeOffer, revokeOffer } from './held-offers.ts';
import { stopRun } from './runs.ts';

/** What other dispatchers, gateways and reconcilers tell this dispatcher; its own offers too. */
export function onBusMessage(dispatcher: Dispatcher, message: DispatcherMessage): void {
  switch (message.kind) {
    case 'make_offer':
      makeOffer(dispatcher, message);
      return;
    case 'revoke_offer':
      revokeOffer(dispatcher, message);
      return;
    case 'offer_ended': {
      const { submissionId, offerId, result, reason } = message;
      const ended = { kind: 'offer_ended', offerId, result, reason } as const;
      dispatcher.offerings.get(submissionId)?.put(ended);
      return;
    }
    case 'stop_submission':
      dispatcher.offerings.get(message.submissionId)?.put({ kind: 'stopped' });
      stopRun(dispatcher, message.submissionId);
      return;
    case 'node_linked': {
      const link = dispatcher.links.byNode.get(message.nodeId);
      // One that is being entered just now finds out by its own entry.
      if (link === undefined || link.epoch === 0 || link.epoch >= message.epoch) return;
      closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'a newer link of this node');
      return;
    }
    case 'node_changed':
      if (!dispatcher.links.byNode.has(message.nodeId)) return;
      inBackground(dispatcher, 'look at a node', followNode(dispatcher, message.nodeId));
      return;
    case 'registry_lost':
      inBackground(dispatcher, 'enter the fleet again', refreshFleet(dispatcher));
      return;
  }
}
