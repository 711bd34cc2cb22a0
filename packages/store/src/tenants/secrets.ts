import type { Author } from '../audit-log/audit.ts';
import { recordTenantChange } from '../audit-log/tenant-changes.ts';
import type { Store } from '../connection/store.ts';
import { insertSettingsChanged } from '../webhook-endpoints/settings-changed.ts';
import { type KeyLimitsRow, resealKeyLimits } from './key-limits.ts';
import { insertSecret, lockEpochSql, type TenantSecretKind } from './tenants.ts';

/**
 * The most secrets of a kind that may be valid at the same time: during a rotation, the new one and
 * the previous one (CONTRACT 1).
 */
export const validSecretsMax = 2;

interface RotatedRow extends KeyLimitsRow {
  readonly expiresAt: Date;
}

export type RotationOutcome =
  /** The end of the previous secret's validity. Null if no secret of this kind was valid before. */
  | { kind: 'rotated'; previousValidUntil: Date | null; deliveryIds: string[] }
  /**
   * Two secrets of this kind are valid already. A third one would end the oldest, which may still
   * be in use (CONTRACT 1).
   */
  | { kind: 'two_valid' }
  | { kind: 'unknown_tenant' };

/**
 * The previous secret stays valid for `overlapMs`. If two are valid already, the rotation is
 * refused. With `force` the oldest ends instead (CONTRACT 1).
 */
export async function rotateTenantSecret(
  store: Store,
  rotation: {
    tenantId: string;
    kind: TenantSecretKind;
    secret: string;
    overlapMs: number;
    force: boolean;
  },
  by: Author,
): Promise<RotationOutcome> {
  const { tenantId, kind, secret, overlapMs, force } = rotation;
  return store.transaction(async (query): Promise<RotationOutcome> => {
    await query(lockEpochSql, [tenantId]);
    const tenants = await query('SELECT 1 FROM tenants WHERE id = $1::uuid FOR UPDATE', [tenantId]);
    if (tenants.length === 0) return { kind: 'unknown_tenant' };
    const valid = await query<{ id: string }>(
      `SELECT id FROM tenant_secrets
       WHERE tenant_id = $1::uuid AND kind = $2 AND (expires_at IS NULL OR expires_at > svc_now())
       ORDER BY created_at DESC, id DESC`,
      [tenantId, kind],
    );
    if (valid.length >= validSecretsMax && !force) return { kind: 'two_valid' };
    const dropped = valid.slice(validSecretsMax - 1).map(({ id }) => id);
    const ended = await query<RotatedRow>(
      `UPDATE tenant_secrets SET expires_at = CASE
         WHEN id = ANY($2::uuid[]) THEN svc_now()
         ELSE LEAST(expires_at, svc_now() + $3 * interval '1 millisecond') END
       WHERE id = ANY($1::uuid[])
       RETURNING id, tenant_id AS "tenantId", kind, scopes, addresses, expires_at AS "expiresAt"`,
      [valid.map(({ id }) => id), dropped, Math.round(overlapMs)],
    );
    const [previousValidUntil = null] = ended
      .map(({ expiresAt }) => expiresAt)
      .toSorted((a, b) => b.getTime() - a.getTime());
    if (kind === 'hmac') await resealKeyLimits(store, query, ended);
    await insertSecret(store, query, tenantId, kind, secret);
    await recordTenantChange(query, by, {
      tenantId,
      action: 'tenant.rotate_secret',
      before: { valid: valid.length },
      after: { kind, overlapMs, dropped: dropped.length },
    });
    const notice = { tenantId, what: 'secret.rotated', by } as const;
    const deliveryIds = await insertSettingsChanged(store, query, notice);
    return { kind: 'rotated', previousValidUntil, deliveryIds };
  });
}
