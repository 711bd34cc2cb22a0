import { nodeLinkCloseCodes, type DispatcherMessage, type NodeLinked } from '@svc/contracts';
import { inBackground, type Dispatcher } from './dispatcher.ts';
import { refreshFleet } from './fleet/fleet-member.ts';
import { followNode } from './fleet/follow-nodes.ts';
import { closeLink } from './links/end-link.ts';
import type { NodeLink } from './links/links.ts';
import { makeOffer, revokeOffer } from './offering/node-offers.ts';
import { stopIfEnded } from './runs/ended-runs.ts';

/**
 * Handles a message from the bus. The sender is a dispatcher, possibly this one, or a gateway, a
 * reconciler or `svc`.
 */
export function onBusMessage(dispatcher: Dispatcher, message: DispatcherMessage): void {
  switch (message.kind) {
    case 'make_offer':
      makeOffer(dispatcher, message);
      return;
    case 'revoke_offer':
      revokeOffer(dispatcher, message);
      return;
    case 'offer_ended': {
      const { submissionId, ...ended } = message;
      dispatcher.offerings.get(submissionId)?.put(ended);
      return;
    }
    case 'stop_submission':
      dispatcher.offerings.get(message.submissionId)?.put({ kind: 'stopped' });
      if (!dispatcher.links.bySubmission.has(message.submissionId)) return;
      inBackground(dispatcher, 'stop a run', stopIfEnded(dispatcher, message.submissionId));
      return;
    case 'node_linked': {
      const link = dispatcher.links.byNode.get(message.nodeId);
      if (link === undefined || !isOlder(link, message)) return;
      closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'the node has a newer link');
      return;
    }
    case 'node_changed':
      if (!dispatcher.links.byNode.has(message.nodeId)) return;
      inBackground(
        dispatcher,
        'apply the changed settings of a node',
        followNode(dispatcher, message.nodeId),
      );
      return;
    case 'registry_lost':
      inBackground(
        dispatcher,
        'add the node links to the fleet registry again',
        refreshFleet(dispatcher),
      );
      return;
  }
}

/** True if `link` is older than the link in the message. */
function isOlder(link: NodeLink, { epoch, linkEpoch }: NodeLinked): boolean {
  // A message from a dispatcher of a previous version has no `linkEpoch`.
  if (linkEpoch !== undefined) return link.linkEpoch < linkEpoch;
  // Epoch 0 means that `enterFleet` has not entered this link yet, so the epochs cannot be
  // compared.
  return link.epoch !== 0 && link.epoch < epoch;
}
