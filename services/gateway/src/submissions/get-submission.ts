import { submissionDetail, NoQuery } from '@svc/contracts';
import { fromWireId } from '@svc/domain';
import { findSubmission } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json, notFound } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';

/**
 * `GET /v1/submissions/:id` (CONTRACT 5). The id of another tenant's submission counts as unknown.
 */
export function getSubmissionEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/submissions/:id',
    query: NoQuery,
    async handle({ tenant, id }) {
      const submissionId = fromWireId('sub', id);
      if (submissionId === undefined) return notFound;
      const record = await findSubmission(deps.store, tenant.tenantId, submissionId);
      const detail = record === null ? undefined : submissionDetail(record);
      return detail === undefined ? notFound : json(200, detail, { submissionId: id });
    },
  });
}
