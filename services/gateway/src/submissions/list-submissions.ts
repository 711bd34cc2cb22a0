import { submissionDetail, type SubmissionPage, SubmissionsQuery } from '@svc/contracts';
import { listSubmissions } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { type Answer, json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { pageOf, readPage } from '../http/page.ts';

/** `GET /v1/submissions` (CONTRACT 5): full records, newest first. */
export function listSubmissionsEndpoint(deps: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/submissions',
    query: SubmissionsQuery,
    handle: ({ tenant }, query) => list(deps, tenant.tenantId, query),
  });
}

async function list(deps: GatewayDeps, tenantId: string, query: SubmissionsQuery): Promise<Answer> {
  const page = readPage('submissions', query);
  if (page.kind === 'problem') return page;
  const { limit, after } = page;
  const records = await listSubmissions(deps.store, tenantId, {
    status: query.status ?? null,
    idempotencyKey: query.idempotencyKey ?? null,
    createdAfter: timeOrNull(query.createdAfter),
    createdBefore: timeOrNull(query.createdBefore),
    after: after === null ? null : { id: after.id, createdAt: new Date(after.atMs) },
    limit: limit + 1,
  });
  const { data, nextCursor } = pageOf('submissions', records, limit, {
    position: ({ id, createdAt }) => ({ id, atMs: createdAt.getTime() }),
    show: submissionDetail,
  });
  const body: SubmissionPage = { data: data.filter((item) => item !== undefined), nextCursor };
  return json(200, body);
}

function timeOrNull(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
