import type { FrameFromNodeOf } from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { applyReport, noteReported, openFindings } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';
import { sendFrame, type NodeLink } from '../links/links.ts';
import type { RunFrameResult } from './runs.ts';

const leavesOut: readonly string[] = openFindings;

/**
 * Handles a node's report of one submission after a restore (CONTRACT 7, "Recovery"). The result is
 * `unexpected` if no recovery is in force.
 */
export async function onReport(
  { store }: Dispatcher,
  link: NodeLink,
  { submissionId: wireId, receipt, begun: isBegun }: FrameFromNodeOf<'report'>,
): Promise<RunFrameResult> {
  const submissionId = fromWireId('sub', wireId);
  if (submissionId === undefined) return { kind: 'foreign' };
  const { nodeId, instanceId } = link;
  const finding = await applyReport(store, { submissionId, nodeId, receipt, isBegun, instanceId });
  if (finding === null)
    return { kind: 'unexpected', message: 'send `report` only while a recovery is in force' };
  link.logger.info(
    { submissionId: wireId, finding },
    'the node has reported a submission after the database was restored from a backup',
  );
  const present = !leavesOut.includes(finding);
  sendFrame(link, { type: 'recorded', submissionId: wireId, present });
  return { kind: 'handled' };
}

export async function onReported({ store }: Dispatcher, link: NodeLink): Promise<RunFrameResult> {
  await noteReported(store, link.nodeId);
  link.logger.info('the node has reported its whole history');
  return { kind: 'handled' };
}
