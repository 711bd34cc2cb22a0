import { webhookAgeMaxMs, webhookAttemptsMax } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { eventPlace, tenantSecretPlace, unsealText } from '../sealing/sealed.ts';
import { attemptClaimMs } from './deliveries.ts';

export interface ClaimedAttempt {
  deliveryId: string;
  tenantId: string;
  eventId: string;
  type: string;
  round: number;
  /** Starts at 1. */
  attemptNumber: number;
  url: string;
  /** The valid secrets: one, or two while a rotation overlaps. */
  secrets: string[];
  /**
   * The exact text to sign and send. Null if it cannot be unsealed; the claim still returns the
   * others.
   */
  body: string | null;
  requestId: string | null;
}

/** The capacity for attempts at a tenant's endpoint. */
export interface EndpointAsk {
  tenantId: string;
  /** At least 1. */
  attemptsMax: number;
}

export interface EndpointClaim {
  tenantId: string;
  attempts: ClaimedAttempt[];
  /** True if more deliveries may be due at this endpoint. */
  more: boolean;
  /**
   * Milliseconds until the next hour if the tenant's attempts of this hour are used up; otherwise
   * 0.
   */
  postponedMs: number;
}

interface ClaimedRow {
  tenant_id: string;
  asked: number;
  room: number;
  picked: number;
  hour_left_ms: number;
  webhook_url: string | null;
  /** The valid secrets, newest first; `sealed` in base64. */
  secrets: { id: string; sealed: string }[] | null;
  id: string | null;
  event_id: string;
  type: string;
  round: number;
  attempt_count: number;
  body_sealed: Uint8Array;
  request_id: string | null;
}

/**
 * Claims the deliveries that are due at these endpoints, the longest due first, up to the capacity
 * of each. Each attempt is numbered and logged before it is sent, so that a crash cannot cause a
 * ninth attempt (CONTRACT 6). If nobody records a claimed attempt, the delivery is due
 * again after `attemptClaimMs`, as the next attempt. Deliveries that can never be sent (no URL,
 * attempts used up, 72 hours over) are ended instead. A tenant with a cap gets no more attempts per
 * clock hour than the cap.
 */
export async function claimDue(
  store: Store,
  asks: readonly EndpointAsk[],
  attemptsMax: number = webhookAttemptsMax,
): Promise<EndpointClaim[]> {
  const claims = new Map<string, EndpointClaim>();
  const secrets = new Map<string, string[]>();
  const rows = await claimRows<ClaimedRow>(store.query, {
    tenant_id: asks.map(({ tenantId }) => tenantId),
    asked: asks.map((ask) => ask.attemptsMax),
    attempts_max: attemptsMax,
  });
  for (const row of rows) {
    const claim = claims.get(row.tenant_id) ?? emptyClaim(row);
    claims.set(row.tenant_id, claim);
    if (row.id === null) continue;
    const known = secrets.get(row.tenant_id) ?? secretsOf(store, row);
    secrets.set(row.tenant_id, known);
    claim.attempts.push({
      deliveryId: row.id,
      tenantId: row.tenant_id,
      eventId: row.event_id,
      type: row.type,
      round: row.round,
      attemptNumber: row.attempt_count,
      url: row.webhook_url ?? '',
      secrets: known,
      body: bodyOf(store, row),
      requestId: row.request_id,
    });
  }
  return [...claims.values()];
}

function emptyClaim({ tenant_id, asked, room, picked, hour_left_ms }: ClaimedRow): EndpointClaim {
  const capped = room < asked && picked === room;
  return {
    tenantId: tenant_id,
    attempts: [],
    more: picked === room,
    postponedMs: capped ? Math.ceil(hour_left_ms) : 0,
  };
}

/**
 * A secret that cannot be unsealed is left out, so that the claim of the other tenants succeeds.
 */
function secretsOf({ sealer }: Store, { secrets, tenant_id: tenantId }: ClaimedRow): string[] {
  return (secrets ?? []).flatMap(({ id, sealed }) => {
    const place = tenantSecretPlace({ id, tenantId, kind: 'webhook' });
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

/**
 * A claim changes no column of an index: claimed deliveries keep their place by `due_at` and are
 * skipped. They are as few as the attempts in flight.
 *
 * Rows that are looked up by id are found by a condition on those ids or by a lateral join of one
 * row. With a plain join the planner reads a whole table that was small when the plan was made.
 */
const claimRows = statement(
  { tenant_id: 'uuid[]', asked: 'int[]', attempts_max: 'int' },
  `
  WITH endpoint AS MATERIALIZED (
    SELECT a.tenant_id, a.asked, t.webhook_url,
      t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified
    FROM unnest($tenant_id, $asked) AS a (tenant_id, asked)
    CROSS JOIN LATERAL (SELECT * FROM tenants WHERE id = a.tenant_id LIMIT 1) t
  ), cap AS MATERIALIZED (
    SELECT c.tenant_id, GREATEST(c.attempts_per_hour
      - CASE WHEN c.hour = date_trunc('hour', svc_now(), 'UTC') THEN c.attempts ELSE 0 END, 0) AS left_over
    FROM endpoint e JOIN webhook_caps c ON c.tenant_id = e.tenant_id AND c.tenant_id = ANY($tenant_id)
    ORDER BY c.tenant_id FOR UPDATE OF c
  ), allowed AS MATERIALIZED (
    SELECT e.*, LEAST(e.asked, cap.left_over) AS room, (
        SELECT jsonb_agg(jsonb_build_object('id', s.id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.created_at DESC)
        FROM tenant_secrets s WHERE s.tenant_id = e.tenant_id AND s.kind = 'webhook'
          AND (s.expires_at IS NULL OR s.expires_at > svc_now())
      ) AS secrets
    FROM endpoint e LEFT JOIN cap ON cap.tenant_id = e.tenant_id
  ), picked AS MATERIALIZED (
    SELECT d.id, e.tenant_id, CASE
      WHEN NOT e.notified THEN 'dropped'
      WHEN d.attempt_count >= $attempts_max
        OR d.round_started_at <= svc_now() - ${webhookAgeMaxMs} * interval '1 millisecond' THEN 'exhausted'
      ELSE 'pending' END AS status
    FROM allowed e CROSS JOIN LATERAL (
      SELECT id, attempt_count, round_started_at FROM deliveries
      WHERE tenant_id = e.tenant_id AND status = 'pending' AND due_at <= svc_now()
        AND next_attempt_at <= svc_now()
      ORDER BY due_at LIMIT e.room FOR UPDATE SKIP LOCKED
    ) d
  ), moved AS (
    UPDATE deliveries d SET status = p.status, attempt_count = d.attempt_count + (p.status = 'pending')::int,
      next_attempt_at = CASE WHEN p.status = 'pending' THEN svc_now() + ${attemptClaimMs} * interval '1 millisecond' END,
      finished_at = CASE WHEN p.status <> 'pending' THEN svc_now() END
    FROM picked p WHERE d.id = p.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
    RETURNING d.id, d.tenant_id, d.event_id, d.type, d.round, d.attempt_count, d.status
  ), claimed AS MATERIALIZED (
    SELECT * FROM moved WHERE status = 'pending'
  ), logged AS (
    INSERT INTO delivery_attempts (delivery_id, round, number, at)
    SELECT id, round, attempt_count, svc_now() FROM claimed
  ), counted AS (
    UPDATE webhook_caps c SET hour = date_trunc('hour', svc_now(), 'UTC'), attempts = n.attempts
      + CASE WHEN c.hour = date_trunc('hour', svc_now(), 'UTC') THEN c.attempts ELSE 0 END
    FROM (SELECT tenant_id, count(*)::int AS attempts FROM claimed GROUP BY tenant_id) n
    WHERE c.tenant_id = n.tenant_id AND c.tenant_id = ANY($tenant_id)
  )
  SELECT e.tenant_id, e.asked, e.room, e.webhook_url, e.secrets,
    (SELECT count(*)::int FROM picked p WHERE p.tenant_id = e.tenant_id) AS picked,
    (extract(epoch FROM date_trunc('hour', svc_now(), 'UTC') + interval '1 hour' - svc_now()) * 1000)::float8 AS hour_left_ms,
    c.id, c.event_id, c.type, c.round, c.attempt_count, v.body_sealed, v.request_id
  FROM allowed e LEFT JOIN claimed c ON c.tenant_id = e.tenant_id
    LEFT JOIN LATERAL (SELECT body_sealed, request_id FROM events WHERE id = c.event_id LIMIT 1) v ON true`,
);
