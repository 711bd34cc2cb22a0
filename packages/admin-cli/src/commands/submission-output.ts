import { submissionView } from '@svc/contracts/views/submission';
import { toWireId, wireStatus } from '@svc/domain';
import type { OperatorSubmission } from '@svc/store';
import type { Row } from '../output.ts';

/**
 * True if the record shows a result or a failure message. A result or message from a node may
 * contain personal data, so the reading of such a record is audited.
 */
export function hasPersonalData({ result, failure }: OperatorSubmission): boolean {
  return result !== null || (failure !== null && failure.message !== '');
}

export function submissionRow(submission: OperatorSubmission): Row {
  const { id, ...shown } = submissionView(submission);
  const { nodeId, cancelledBy, requestId } = submission;
  return {
    id,
    tenantId: toWireId('tnt', submission.tenantId),
    status: wireStatus(submission.state) ?? submission.state,
    ...shown,
    nodeId: nodeId === null ? null : toWireId('nod', nodeId),
    cancelledBy,
    requestId,
  };
}
