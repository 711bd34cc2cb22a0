import { type AuditEntry, AuditQuery } from '@svc/contracts';
import { listTenantChanges, type TenantAuditEntry } from '@svc/store';
import type { GatewayDeps } from '../deps.ts';
import { json } from '../http/answer.ts';
import { tenantEndpoint, type TenantEndpoint } from '../http/endpoint.ts';
import { pageOf, readPage } from '../http/page.ts';

/**
 * `GET /v1/audit` (CONTRACT 12): the changes of the tenant's settings, secrets, endpoints and keys,
 * newest first.
 */
export function auditEndpoint({ store }: GatewayDeps): TenantEndpoint {
  return tenantEndpoint({
    method: 'get',
    path: '/v1/audit',
    query: AuditQuery,
    async handle({ tenant: { tenantId } }, query) {
      const page = readPage('audit', query);
      if (page.kind === 'problem') return page;
      const entries = await listTenantChanges(store, {
        tenantId,
        beforeId: page.after === null ? null : entryIdOf(page.after.id),
        limit: page.limit + 1,
      });
      return json(200, pageOf('audit', entries, page.limit, { position, show: entryView }));
    },
  });
}

function position({ id }: TenantAuditEntry) {
  return { id: cursorIdOf(id), atMs: 0 };
}

function entryView({ what, by, at, before, after, requestId }: TenantAuditEntry): AuditEntry {
  const members = { before: membersOf(before), after: membersOf(after) };
  return { what, by, at: at.toISOString(), ...members, requestId };
}

function membersOf(value: unknown): object | null {
  return typeof value === 'object' ? value : null;
}

/**
 * The number of an audit entry in the form of a UUID, because the id in a cursor is a UUID. The
 * number fills the last 8 bytes.
 */
function cursorIdOf(id: bigint): string {
  const hex = id.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * The number of an audit entry in a cursor. A number that is too large for a `bigint` of Postgres
 * becomes `bigintMax`, so the page begins at the newest entry.
 */
function entryIdOf(cursorId: string): bigint {
  const id = BigInt(`0x${cursorId.replaceAll('-', '')}`);
  return id > bigintMax ? bigintMax : id;
}

const bigintMax = 2n ** 63n - 1n;
