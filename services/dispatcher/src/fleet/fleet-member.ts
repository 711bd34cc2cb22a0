import { nodeLinkCloseCodes } from '@svc/contracts';
import { fleetRefreshIntervalMs } from '@svc/queue';
import { runPeriodically, type Repeating } from '@svc/runtime';
import { touchNodes } from '@svc/store';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import { closeLink } from '../links/end-link.ts';
import { takesOffers, type NodeLink } from '../links/links.ts';

/**
 * The interval at which a dispatcher enters each link into the fleet registry again. This repairs a
 * missing entry.
 */
const enterAgainAfterMs = 30_000;
const entriesAtOnceMax = 100;

/**
 * Enters a link into the fleet registry, or updates its entry. Closes the link (4001) if the node
 * has a newer one. Throws if Redis is unreachable.
 */
export async function enterFleet(dispatcher: Dispatcher, link: NodeLink): Promise<void> {
  if (link.state === 'ended') return;
  link.enteredAtMs = dispatcher.clock.monotonicMs();
  const entered = await dispatcher.fleet.join({
    nodeId: link.nodeId,
    dispatcherId: dispatcher.id,
    linkId: link.linkId,
    epoch: link.epoch,
    linkEpoch: link.linkEpoch,
    jobTypes: link.jobTypes,
    slots: link.slots,
    draining: !takesOffers(link),
    submissionIds: [...link.runs.keys()],
  });
  switch (entered.kind) {
    case 'joined':
      link.epoch = entered.epoch;
      return;
    case 'superseded':
      closeLink(dispatcher, link, nodeLinkCloseCodes.newerLink, 'the node has a newer link');
      return;
  }
}

async function enterAll(dispatcher: Dispatcher, links: readonly NodeLink[]): Promise<void> {
  for (let start = 0; start < links.length; start += entriesAtOnceMax) {
    const batch = links.slice(start, start + entriesAtOnceMax);
    await Promise.all(batch.map((link) => enterFleet(dispatcher, link)));
  }
}

/**
 * Sends a heartbeat, and enters the links that may be missing from the fleet registry. Throws if
 * Redis is unreachable.
 */
export async function refreshFleet(dispatcher: Dispatcher): Promise<void> {
  const links = [...dispatcher.links.byNode.values()];
  // `unknown`: the registry did not count this dispatcher as alive, so all links may be missing.
  if ((await dispatcher.fleet.refresh(dispatcher.id)) === 'unknown') {
    await enterAll(dispatcher, links);
    return;
  }
  const dueBefore = dispatcher.clock.monotonicMs() - enterAgainAfterMs;
  const due = links.filter((link) => link.epoch === 0 || link.enteredAtMs <= dueBefore);
  if (due.length === 0) return;
  await enterAll(dispatcher, due);
  const nodeIds = due.map(({ nodeId }) => nodeId);
  inBackground(
    dispatcher,
    'record when nodes were last seen',
    touchNodes(dispatcher.store, nodeIds),
  );
}

/**
 * Rebuilds a lost registry. Asks the other dispatchers to enter their links again, and enters the
 * links of this one. Throws if Redis is unreachable.
 */
export async function rebuildFleet(dispatcher: Dispatcher): Promise<void> {
  await dispatcher.bus.broadcast({ kind: 'registry_lost' });
  await refreshFleet(dispatcher);
}

/**
 * Refreshes this dispatcher and its links in the fleet registry, at once and then periodically.
 * Resolves after the first refresh. A failed refresh is only logged.
 */
export async function startFleetRefresh(dispatcher: Dispatcher): Promise<Repeating> {
  const refresh = async (): Promise<void> => {
    try {
      await refreshFleet(dispatcher);
    } catch (error) {
      dispatcher.logger.warn(
        { err: error },
        'could not refresh this dispatcher in the fleet registry',
      );
    }
  };
  await refresh();
  const { logger } = dispatcher;
  return runPeriodically({
    name: 'fleet',
    intervalMs: fleetRefreshIntervalMs,
    run: refresh,
    logger,
  });
}
