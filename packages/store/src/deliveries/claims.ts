import { webhookAttemptsMax } from '@svc/domain';
import type { Store } from '../connection/store.ts';
import {
  endpointSecretPlace,
  eventPlace,
  tenantSecretPlace,
  unsealText,
} from '../sealing/sealed.ts';
import { type ClaimedRow, claimEndpointRows, claimSettingsRows } from './claim-rows.ts';

export interface ClaimedAttempt {
  deliveryId: string;
  tenantId: string;
  /** The id of the endpoint's row. Null if the URL is the `webhookUrl` of the tenant's settings. */
  targetId: string | null;
  eventId: string;
  type: string;
  round: number;
  /** Counts from 1 in each round. */
  attemptNumber: number;
  url: string;
  /** The valid secrets, newest first. A secret that cannot be unsealed is left out. */
  secrets: string[];
  /** The exact text to sign and send. Null if it cannot be unsealed. */
  body: string | null;
  requestId: string | null;
}

export interface EndpointAsk {
  tenantId: string;
  /** The id of the endpoint's row. Null or omitted for the URL of the tenant's settings. */
  targetId?: string | null;
  /** The most attempts to claim at this destination; at least 1. */
  attemptsMax: number;
}

export interface EndpointClaim {
  tenantId: string;
  targetId: string | null;
  /**
   * The ids of the tenant's endpoints that have due deliveries. Empty if `targetId` is not null, or
   * if all of the tenant's endpoints are retired.
   */
  dueTargetIds: string[];
  attempts: ClaimedAttempt[];
  /** True if more deliveries may be due at this destination. */
  more: boolean;
  /**
   * Milliseconds until the next clock hour, if the tenant's webhook cap limited this claim and
   * allows no more attempts in the current hour. Otherwise 0.
   */
  postponedMs: number;
}

/**
 * Claims due deliveries, the longest due ones first at each destination. A delivery that must not
 * be sent becomes `dropped` or `exhausted` (CONTRACT 6).
 */
export async function claimDue(
  store: Store,
  asks: readonly EndpointAsk[],
  attemptsMax: number = webhookAttemptsMax,
): Promise<EndpointClaim[]> {
  const atEndpoints = asks.filter(({ targetId }) => typeof targetId === 'string');
  const atSettings = asks.filter((ask) => !atEndpoints.includes(ask));
  const columns = (asked: readonly EndpointAsk[]) => ({
    tenant_id: asked.map(({ tenantId }) => tenantId),
    asked: asked.map((ask) => ask.attemptsMax),
    attempts_max: attemptsMax,
  });
  const claimed = await Promise.all([
    atSettings.length === 0 ? [] : claimSettingsRows<ClaimedRow>(store.query, columns(atSettings)),
    atEndpoints.length === 0
      ? []
      : claimEndpointRows<ClaimedRow>(store.query, {
          ...columns(atEndpoints),
          target_id: atEndpoints.map(({ targetId }) => targetId ?? null),
        }),
  ]);
  return claimsOf(store, claimed.flat());
}

function claimsOf(store: Store, rows: readonly ClaimedRow[]): EndpointClaim[] {
  const claims = new Map<string, EndpointClaim>();
  const secrets = new Map<string, string[]>();
  for (const row of rows) {
    const claim = claims.get(row.key) ?? emptyClaim(row);
    claims.set(row.key, claim);
    if (row.id === null) continue;
    const known = secrets.get(row.key) ?? secretsOf(store, row);
    secrets.set(row.key, known);
    claim.attempts.push({
      deliveryId: row.id,
      tenantId: row.tenant_id,
      targetId: row.target_id,
      eventId: row.event_id,
      type: row.type,
      round: row.round,
      attemptNumber: row.attempt_count,
      url: row.url ?? '',
      secrets: known,
      body: bodyOf(store, row),
      requestId: row.request_id,
    });
  }
  return [...claims.values()];
}

function emptyClaim(row: ClaimedRow): EndpointClaim {
  const capped = row.spent && row.room < row.asked && row.picked === row.room;
  return {
    tenantId: row.tenant_id,
    targetId: row.target_id,
    dueTargetIds: row.due_target_ids ?? [],
    attempts: [],
    more: row.picked === row.room,
    postponedMs: capped ? Math.ceil(row.hour_left_ms) : 0,
  };
}

/**
 * Returns the secrets without those that cannot be unsealed. An error would fail the claims of
 * other tenants too.
 */
function secretsOf(
  { sealer }: Store,
  { secrets, tenant_id: tenantId, target_id }: ClaimedRow,
): string[] {
  return (secrets ?? []).flatMap(({ id, version, sealed }) => {
    const place =
      target_id === null
        ? tenantSecretPlace({ id, tenantId, kind: 'webhook' })
        : endpointSecretPlace({ id, tenantId, version });
    try {
      return [unsealText(sealer, place, Buffer.from(sealed, 'base64'))];
    } catch {
      return [];
    }
  });
}

function bodyOf({ sealer }: Store, row: ClaimedRow): string | null {
  const place = eventPlace({ id: row.event_id, tenantId: row.tenant_id, type: row.type });
  try {
    return unsealText(sealer, place, row.body_sealed);
  } catch {
    return null;
  }
}
