import { dispatchDeadlineMs } from '@svc/domain';
import { batched } from '../connection/batching.ts';
import type { Store } from '../connection/store.ts';
import { tenantSecretPlace, unsealText } from '../sealing/sealed.ts';

/**
 * The credentials that authenticate a tenant's request (CONTRACT 1), and its rate card.
 */
export interface TenantCredentials {
  tenantId: string;
  disabled: boolean;
  allowedJobTypes: string[];
  /** The valid secrets: one, or two while a rotation overlaps. */
  hmacSecrets: string[];
  /** True while a rotation overlaps. The epoch does not change when the older secret expires. */
  hasExpiringSecret: boolean;
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  /**
   * The card in force: the tenant's card if it has one, otherwise the default. Null if there is
   * none.
   */
  rateCardVersion: number | null;
  /**
   * Changes whenever another field changes, except when a secret expires. A hold compares it
   * (`holdSubmission`).
   */
  accountEpoch: bigint;
}

interface CredentialsRow {
  readonly tenant_id: string;
  readonly disabled: boolean;
  readonly allowed_job_types: string[];
  readonly rate_limit_per_second: number;
  readonly rate_limit_burst: number;
  readonly rate_card_version: number | null;
  readonly epoch: bigint;
  readonly secret_id: string | null;
  readonly sealed: Uint8Array | null;
  readonly expires: boolean;
}

const credentialsSql = `
  SELECT t.id AS tenant_id, t.disabled_at IS NOT NULL AS disabled, t.allowed_job_types,
    t.rate_limit_per_second, t.rate_limit_burst, s.id AS secret_id, s.sealed,
    s.expires_at IS NOT NULL AS expires,
    COALESCE((SELECT epoch FROM credit_accounts WHERE tenant_id = t.id), 0) AS epoch,
    COALESCE(
      (SELECT version FROM rate_cards WHERE tenant_id = t.id ORDER BY version DESC LIMIT 1),
      (SELECT version FROM rate_cards WHERE tenant_id IS NULL ORDER BY version DESC LIMIT 1)
    ) AS rate_card_version
  FROM tenants t
  LEFT JOIN LATERAL (
    SELECT id, sealed, expires_at FROM tenant_secrets
    WHERE tenant_id = t.id AND kind = 'hmac' AND (expires_at IS NULL OR expires_at > svc_now())
    ORDER BY created_at DESC) s ON true
  WHERE t.id = ANY($1::uuid[])`;

const findInBatch = batched<string, TenantCredentials | null>({
  run: async (store, tenantIds) => {
    const rows = await store.query<CredentialsRow>(credentialsSql, [tenantIds]);
    const byTenant = Map.groupBy(rows, (row) => row.tenant_id);
    return tenantIds.map((tenantId) => credentialsOf(store, byTenant.get(tenantId) ?? []));
  },
  answerMsMax: dispatchDeadlineMs,
});

/**
 * Null for an unknown tenant. Expired secrets are left out; the newest comes first. Calls that wait
 * at the same time share one statement. `tenantId` must be in lower case, as `fromWireId` returns
 * it.
 */
export function findTenantCredentials(
  store: Store,
  tenantId: string,
): Promise<TenantCredentials | null> {
  return findInBatch(store, tenantId);
}

function credentialsOf(store: Store, rows: readonly CredentialsRow[]): TenantCredentials | null {
  const [first] = rows;
  if (first === undefined) return null;
  return {
    tenantId: first.tenant_id,
    disabled: first.disabled,
    allowedJobTypes: first.allowed_job_types,
    hmacSecrets: rows.flatMap(({ secret_id, sealed }) =>
      secret_id === null || sealed === null
        ? []
        : [unsealHmacSecret(store, { id: secret_id, tenantId: first.tenant_id, sealed })],
    ),
    hasExpiringSecret: rows.some(({ expires }) => expires),
    rateLimitPerSecond: first.rate_limit_per_second,
    rateLimitBurst: first.rate_limit_burst,
    rateCardVersion: first.rate_card_version,
    accountEpoch: first.epoch,
  };
}

function unsealHmacSecret(
  { sealer }: Store,
  { id, tenantId, sealed }: { id: string; tenantId: string; sealed: Uint8Array },
): string {
  return unsealText(sealer, tenantSecretPlace({ id, tenantId, kind: 'hmac' }), sealed);
}
