import { nodeLinkCloseCodes, type FrameFromNodeOf } from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { applyReport, noteReported, openFindings } from '@svc/store';
import type { Dispatcher } from '../dispatcher.ts';
import { closeLink } from '../links/end-link.ts';
import { sendFrame, type NodeLink } from '../links/links.ts';
import type { RunFrameResult } from './runs.ts';

const leavesOut: readonly string[] = openFindings;

/**
 * Handles a node's report of a submission (CONTRACT 7, "Recovery"). Closes the link if the recovery
 * has ended. The result is `unexpected` if the `welcome` asked for no reports.
 */
export async function onReport(
  dispatcher: Dispatcher,
  link: NodeLink,
  { submissionId: wireId, receipt, begun: isBegun }: FrameFromNodeOf<'report'>,
): Promise<RunFrameResult> {
  const submissionId = fromWireId('sub', wireId);
  if (submissionId === undefined) return { kind: 'foreign' };
  const { nodeId, instanceId } = link;
  const report = { submissionId, nodeId, receipt, isBegun, instanceId };
  const finding = await applyReport(dispatcher.store, report);
  if (finding === null) {
    if (!link.isRecovering)
      return { kind: 'unexpected', message: 'send `report` only while a recovery is in force' };
    // The node waits for an answer before it goes on. The next `welcome` asks for no reports.
    closeLink(dispatcher, link, nodeLinkCloseCodes.drain, 'the recovery has ended, connect again');
    return { kind: 'handled' };
  }
  if (finding === 'unreadable') {
    link.unreadableReports += 1;
    sendFrame(link, { type: 'recorded', submissionId: wireId, present: false, refused: true });
    return { kind: 'foreign' };
  }
  link.logger.info(
    { submissionId: wireId, finding },
    'the node has reported a submission after the database was restored from a backup',
  );
  const isRefused = finding === 'not_this_nodes';
  const present = !isRefused && !leavesOut.includes(finding);
  sendFrame(link, {
    type: 'recorded',
    submissionId: wireId,
    present,
    ...(isRefused && { refused: true }),
  });
  return { kind: 'handled' };
}

export async function onReported({ store }: Dispatcher, link: NodeLink): Promise<RunFrameResult> {
  const { nodeId, unreadableReports: unreadable } = link;
  await noteReported(store, { nodeId, unreadable });
  link.logger.info({ unreadable }, 'the node has reported its whole history');
  return { kind: 'handled' };
}
