import type { Place, Sealer } from '../connection/store.ts';

/**
 * The places of sealed values. A value opens only for its place. Values in the previous format are
 * bound to a part of their place (`sealing-phase.ts`).
 */

type Tenants = { readonly tenantId: string };

export const environmentPlace = (name: string): Place => ({
  ...rowOf('environment', 'request_hash_key_sealed', '1'),
  kind: name,
});

export const auditHeadPlace = (): Place => rowOf('audit_head', 'head_sealed', '1');

export const ledgerAuditPlace = (): Place => rowOf('ledger_audit', 'state_sealed', '1');

export const ledgerCheckpointPlace = ({ tenantId }: Tenants): Place => ({
  ...rowOf('ledger_checkpoints', 'sealed', tenantId),
  tenantId,
});

export const operatorSecretPlace = (id: string): Place => rowOf('operators', 'secret_sealed', id);

/** The kind is the secret's version, so an earlier secret does not open as the current one. */
export const nodeSecretPlace = ({ id, version }: { id: string; version: number }): Place => ({
  ...rowOf('nodes', 'secret_sealed', id),
  kind: `${version}`,
});

export const tenantSecretPlace = (at: Tenants & { id: string; kind: string }): Place => ({
  ...rowOf('tenant_secrets', 'sealed', at.id),
  tenantId: at.tenantId,
  kind: at.kind,
});

/** The place of the sealed scopes, addresses and expiry of a key. */
export const keyLimitsPlace = (at: Tenants & { id: string; kind: string }): Place => ({
  ...rowOf('tenant_secrets', 'limits_sealed', at.id),
  tenantId: at.tenantId,
  kind: at.kind,
});

/** The kind is the secret's version, so an earlier secret does not open as the current one. */
export const endpointSecretPlace = (at: Tenants & { id: string; version: number }): Place => ({
  ...rowOf('webhook_endpoints', 'secret_sealed', at.id),
  tenantId: at.tenantId,
  kind: `${at.version}`,
});

export const payloadPlace = (at: Tenants & { id: string; jobType: string }): Place => ({
  ...rowOf('submissions', 'payload_sealed', at.id),
  tenantId: at.tenantId,
  kind: at.jobType,
});

export const outcomePlace = (at: Tenants & { id: string; kind: string }): Place => ({
  ...rowOf('submissions', 'outcome_sealed', at.id),
  tenantId: at.tenantId,
  kind: at.kind,
});

export const eventPlace = (at: Tenants & { id: string; type: string }): Place => ({
  ...rowOf('events', 'body_sealed', at.id),
  tenantId: at.tenantId,
  kind: at.type,
});

/** The place of a receipt. The node `nodeId` keeps the receipt. The database does not store it. */
export const receiptPlace = (at: { submissionId: string; nodeId: string }): Place => ({
  ...rowOf('assignments', 'receipt', at.submissionId),
  kind: at.nodeId,
});

interface Attempt {
  readonly deliveryId: string;
  readonly round: number;
  readonly number: number;
}

export const responsePlace = (at: Tenants & Attempt): Place => ({
  ...rowOf('delivery_attempts', 'response_sealed', `${at.deliveryId}:${at.round}:${at.number}`),
  tenantId: at.tenantId,
});

function rowOf(table: string, column: string, row: string): Place {
  return { table, column, tenantId: null, kind: null, row };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Opens a value that was sealed as UTF-8 text. Throws if the value was sealed for another place, if
 * it was modified, or if its master key is missing.
 */
export function unsealText(sealer: Sealer, place: Place, sealed: Uint8Array): string {
  return decoder.decode(sealer.unseal(place, sealed));
}
