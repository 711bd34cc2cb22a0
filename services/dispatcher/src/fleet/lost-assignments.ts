import { toWireId } from '@svc/domain';
import { enqueueSettlements } from '@svc/queue';
import { endAfterDisable, endUnnamed, endUnsent } from '@svc/store';
import { inBackground, type Dispatcher } from '../dispatcher.ts';
import type { NodeLink } from '../links/links.ts';

/**
 * Stores `node_lost` for assigned submissions that their node does not have, or whose node is
 * disabled (CONTRACT 7). Each transaction first checks the submission's state.
 */

type LostBy = Pick<NodeLink, 'nodeId' | 'logger'>;

/**
 * Stores `node_lost` for submissions that the link's `hello` did not name, except during a
 * recovery. Returns false if nothing was stored because the node has a newer link.
 */
export async function giveUpUnnamed(
  dispatcher: Dispatcher,
  link: LostBy & Pick<NodeLink, 'linkEpoch'>,
  submissionIds: readonly string[],
): Promise<boolean> {
  // There is nothing to store, so this case does not check for a newer link.
  if (submissionIds.length === 0) return true;
  const { nodeId, linkEpoch } = link;
  const finding = await endUnnamed(dispatcher.store, { nodeId, linkEpoch, submissionIds });
  if (finding.kind === 'superseded') return false;
  settleLost(dispatcher, link, finding.submissionIds);
  return true;
}

/**
 * Call this only if the payload was not sent and never will be. Stores `node_lost` if the submission
 * is still `dispatched` to the node.
 */
export async function giveUpUnsent(
  dispatcher: Dispatcher,
  link: LostBy,
  submissionId: string,
): Promise<void> {
  const isLost = await endUnsent(dispatcher.store, { nodeId: link.nodeId, submissionId });
  if (isLost) settleLost(dispatcher, link, [submissionId]);
}

/**
 * Stores `node_lost` for the submissions that were committed to the node while an operator disabled
 * the node. Does nothing if the node is enabled again.
 */
export async function giveUpLeftBehind(dispatcher: Dispatcher, link: LostBy): Promise<void> {
  settleLost(dispatcher, link, await endAfterDisable(dispatcher.store, link.nodeId));
}

function settleLost(
  dispatcher: Dispatcher,
  { logger }: LostBy,
  submissionIds: readonly string[],
): void {
  for (const submissionId of submissionIds) {
    logger.warn(
      { submissionId: toWireId('sub', submissionId) },
      'stored node_lost for a submission, because its node does not have it or is disabled',
    );
    const enqueued = enqueueSettlements(dispatcher.producer, [submissionId]);
    inBackground(dispatcher, 'enqueue a settlement', enqueued);
  }
}
