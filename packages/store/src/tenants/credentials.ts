import { dispatchDeadlineMs, type KeyScope, keyScopes } from '@svc/domain';
import { batched } from '../connection/batching.ts';
import type { Store } from '../connection/store.ts';
import { tenantSecretPlace, unsealText } from '../sealing/sealed.ts';
import { hasSoundLimits, keyLimitsOf } from './key-limits.ts';

/**
 * The data of a tenant that the gateway needs to check and price a signed request (CONTRACT 1 and
 * 12).
 */
export interface TenantCredentials {
  tenantId: string;
  disabled: boolean;
  allowedJobTypes: string[];
  /**
   * The valid secrets, the newest one first. If the request names a key, only the secret of that
   * key. Otherwise the secrets of the tenant's first keys (`KeyRecord`).
   */
  hmacSecrets: string[];
  /** The ids of the keys in `hmacSecrets`, in the same order. They are UUIDs. */
  keyIds: string[];
  /**
   * The ids of keys whose scopes, addresses or expiry do not match their seal. Somebody has edited
   * them in the database. Their secrets are left out.
   */
  tamperedKeyIds: string[];
  /**
   * The scopes of the key that the request names. All scopes if it names a first key (`KeyRecord`),
   * or if it does not name a key.
   */
  scopes: readonly KeyScope[];
  /** The CIDR blocks that requests must come from. Empty if every address is allowed. */
  addresses: string[];
  /**
   * True if one of the secrets has an expiry time. `accountEpoch` does not change when a secret
   * expires, so an unchanged epoch does not prove that all secrets are still valid.
   */
  hasExpiringSecret: boolean;
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  /**
   * The version of the rate card in force: the tenant's own card, or else the default card. Null if
   * neither card exists.
   */
  rateCardVersion: number | null;
  /**
   * The `epoch` of the tenant's account. It changes when another field here changes, but not when a
   * secret expires. `holdSubmission` refuses an old epoch.
   */
  accountEpoch: bigint;
}

interface Asked {
  readonly tenantId: string;
  /**
   * The key that the request names. If null, all valid first keys of the tenant are found
   * (`KeyRecord`).
   */
  readonly keyId: string | null;
}

interface CredentialsRow {
  readonly asked: string;
  readonly tenant_id: string;
  readonly disabled: boolean;
  readonly allowed_job_types: string[];
  readonly rate_limit_per_second: number;
  readonly rate_limit_burst: number;
  readonly rate_card_version: number | null;
  readonly epoch: bigint;
  readonly secret_id: string | null;
  readonly kind: 'hmac' | 'key';
  readonly sealed: Uint8Array | null;
  readonly expires_at: Date | null;
  readonly limits_sealed: Uint8Array | null;
  readonly scopes: string[] | null;
  readonly addresses: string[] | null;
}

const credentialsSql = `
  SELECT asked.place::text AS asked, t.id AS tenant_id, t.disabled_at IS NOT NULL AS disabled,
    t.allowed_job_types, t.rate_limit_per_second, t.rate_limit_burst, s.id AS secret_id, s.kind,
    s.sealed, s.scopes, s.addresses,
    s.expires_at, s.limits_sealed,
    COALESCE((SELECT epoch FROM credit_accounts WHERE tenant_id = t.id), 0) AS epoch,
    COALESCE(
      (SELECT version FROM rate_cards WHERE tenant_id = t.id ORDER BY version DESC LIMIT 1),
      (SELECT version FROM rate_cards WHERE tenant_id IS NULL ORDER BY version DESC LIMIT 1)
    ) AS rate_card_version
  FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS asked (tenant_id, key_id, place)
  JOIN tenants t ON t.id = asked.tenant_id
  LEFT JOIN LATERAL (
    SELECT id, kind, sealed, expires_at, scopes, addresses, limits_sealed FROM tenant_secrets
    WHERE tenant_id = t.id AND (expires_at IS NULL OR expires_at > svc_now())
      AND kind = ANY(CASE WHEN asked.key_id IS NULL THEN '{hmac}' ELSE '{hmac,key}' END::text[])
      AND (asked.key_id IS NULL OR id = asked.key_id)
    ORDER BY created_at DESC) s ON true`;

const findInBatch = batched<Asked, TenantCredentials | null>({
  run: async (store, asked) => {
    const rows = await store.query<CredentialsRow>(credentialsSql, [
      asked.map(({ tenantId }) => tenantId),
      asked.map(({ keyId }) => keyId),
    ]);
    const byPlace = Map.groupBy(rows, (row) => Number(row.asked) - 1);
    return asked.map(({ keyId }, place) => {
      const found = byPlace.get(place) ?? [];
      if (keyId !== null && found[0]?.secret_id === null) return null;
      return credentialsOf(store, found);
    });
  },
  answerMsMax: dispatchDeadlineMs,
});

/**
 * Finds the credentials of a key, or of the tenant's first keys (`KeyRecord`) if `keyId` is null.
 * Null if the tenant is unknown or has no valid key `keyId`.
 */
export function findTenantCredentials(
  store: Store,
  tenantId: string,
  keyId: string | null = null,
): Promise<TenantCredentials | null> {
  return findInBatch(store, { tenantId, keyId });
}

const unlimited = { scopes: keyScopes, addresses: [] } as const;

function credentialsOf(store: Store, rows: readonly CredentialsRow[]): TenantCredentials | null {
  const [first] = rows;
  if (first === undefined) return null;
  const tenantId = first.tenant_id;
  const found = rows.flatMap(({ secret_id: id, sealed, ...row }) => {
    if (id === null || sealed === null) return [];
    const { kind, scopes, addresses, expires_at: expiresAt, limits_sealed: limitsSealed } = row;
    return [{ id, tenantId, kind, sealed, scopes, addresses, expiresAt, limitsSealed }];
  });
  const [named] = found;
  const limits = named?.kind === 'key' ? keyLimitsOf(named) : unlimited;
  const opened = found.map((one) => ({
    ...one,
    secret: unsealText(store.sealer, tenantSecretPlace(one), one.sealed),
  }));
  const secrets = opened.filter((one) => hasSoundLimits(store, one));
  return {
    tenantId,
    disabled: first.disabled,
    allowedJobTypes: first.allowed_job_types,
    hmacSecrets: secrets.map(({ secret }) => secret),
    keyIds: secrets.map(({ id }) => id),
    tamperedKeyIds: opened.filter((one) => !secrets.includes(one)).map(({ id }) => id),
    scopes: limits.scopes,
    addresses: [...limits.addresses],
    hasExpiringSecret: found.some(({ expiresAt }) => expiresAt !== null),
    rateLimitPerSecond: first.rate_limit_per_second,
    rateLimitBurst: first.rate_limit_burst,
    rateCardVersion: first.rate_card_version,
    accountEpoch: first.epoch,
  };
}
