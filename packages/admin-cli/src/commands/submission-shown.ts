import { shownSubmission } from '@svc/contracts/shown/submission';
import { toWireId, wireStatus } from '@svc/domain';
import type { OperatorSubmission } from '@svc/store';
import type { Row } from '../output.ts';

/** Whether a record shows what a node said of a person; reading that is audited. */
export function hasPersonalData({ result, failure }: OperatorSubmission): boolean {
  return result !== null || (failure !== null && failure.message !== '');
}

/** A submission as the API shows it, and what only operators see. */
export function submissionRow(submission: OperatorSubmission): Row {
  const { id, ...shown } = shownSubmission(submission);
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
