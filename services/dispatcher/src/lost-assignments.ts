import { toWireId } from '@svc/domain';
import { enqueueSettlements } from '@svc/queue';
import { storeServiceFailure } from '@svc/store';

import { inBackground, type Dispatcher } from './dispatcher.ts';
import type { NodeLink } from './links.ts';

/**
 * Ends what a node was given and does not have (`node_lost`, CONTRACT section 7), and has it
 * settled. What has ended meanwhile, or is not the node's, stays as it is.
 */
export async function giveUpLost(
  dispatcher: Dispatcher,
  { nodeId, logger }: Pick<NodeLink, 'nodeId' | 'logger'>,
  lost: readonly string[],
): Promise<void> {
  const { store, producer } = dispatcher;
  for (const submissionId of lost) {
    const failure = { submissionId, code: 'node_lost', nodeId } as const;
    const stored = await storeServiceFailure(store, failure);
    if (stored.kind === 'refused') continue;
    logger.warn({ submissionId: toWireId('sub', submissionId) }, 'lost by its node');
    inBackground(dispatcher, 'enqueue a settlement', enqueueSettlements(producer, [submissionId]));
  }
}
