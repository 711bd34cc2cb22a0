import { webhookAgeMaxMs } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import { attemptClaimMs } from './deliveries.ts';

/**
 * One row per claimed delivery, with its destination. A destination without a claimed delivery also
 * has one row, whose `id` is null.
 */
export interface ClaimedRow {
  /**
   * Identifies the destination. It is the tenant's id if the URL is in the tenant's settings. For a
   * webhook endpoint it is the id of the endpoint's row.
   */
  key: string;
  tenant_id: string;
  target_id: string | null;
  asked: number;
  room: number;
  picked: number;
  /**
   * True if, after this claim, the tenant's webhook cap allows no more attempts in the current
   * clock hour. False if the tenant has no webhook cap.
   */
  spent: boolean;
  hour_left_ms: number;
  url: string | null;
  due_target_ids: string[] | null;
  /**
   * The valid secrets, newest first, in base64 (`sealed`); null or empty if there are none. If
   * `target_id` is null, `version` is missing, contrary to its type.
   */
  secrets: { id: string; version: number; sealed: string }[] | null;
  /**
   * Check `id` first. If it is null, all fields below are null too, although most of their types
   * exclude null.
   */
  id: string | null;
  event_id: string;
  type: string;
  round: number;
  attempt_count: number;
  body_sealed: Uint8Array;
  request_id: string | null;
}

interface ClaimedAt {
  readonly key: string;
  readonly status: 'pending' | 'queued';
  readonly endpoint: string;
  readonly room: string;
  readonly secrets: string;
  /**
   * SQL of one more condition under which a delivery is dropped. The text begins with ` OR`. The
   * text is empty if there is no such condition.
   */
  readonly unwanted: string;
}

/**
 * A claim changes `next_attempt_at`, but not `due_at`, because `due_at` is in indexes (decision
 * 29). Lateral joins prevent plans that read a whole table (decision 23).
 */
const claimSql = (at: ClaimedAt): string => `
  WITH endpoint AS MATERIALIZED (
    ${at.endpoint}
  ), cap AS MATERIALIZED (
    SELECT c.tenant_id, GREATEST(c.attempts_per_hour
      - CASE WHEN c.hour = date_trunc('hour', svc_now(), 'UTC') THEN c.attempts ELSE 0 END, 0) AS left_over
    FROM webhook_caps c WHERE c.tenant_id = ANY($tenant_id)
    ORDER BY c.tenant_id FOR UPDATE OF c
  ), allowed AS MATERIALIZED (
    SELECT e.*, cap.left_over, ${at.room} AS room, ${at.secrets} AS secrets
    FROM endpoint e LEFT JOIN cap ON cap.tenant_id = e.tenant_id
  ), picked AS MATERIALIZED (
    SELECT d.id, e.key, CASE
      WHEN NOT e.notified${at.unwanted} THEN 'dropped'
      WHEN d.attempt_count >= $attempts_max
        OR d.round_started_at <= svc_now() - ${webhookAgeMaxMs} * interval '1 millisecond' THEN 'exhausted'
      ELSE '${at.status}' END AS status
    FROM allowed e CROSS JOIN LATERAL (
      SELECT id, type, attempt_count, round_started_at FROM deliveries
      WHERE ${at.key} = e.key AND status = '${at.status}' AND due_at <= svc_now()
        AND next_attempt_at <= svc_now()
      ORDER BY due_at LIMIT e.room FOR UPDATE SKIP LOCKED
    ) d
  ), moved AS (
    UPDATE deliveries d SET status = p.status, attempt_count = d.attempt_count + (p.status = '${at.status}')::int,
      next_attempt_at = CASE WHEN p.status = '${at.status}' THEN svc_now() + ${attemptClaimMs} * interval '1 millisecond' END,
      finished_at = CASE WHEN p.status <> '${at.status}' THEN svc_now() END
    FROM picked p WHERE d.id = p.id AND d.id = ANY(ARRAY(SELECT id FROM picked))
    RETURNING d.id, d.${at.key} AS key, d.tenant_id, d.event_id, d.type, d.round, d.attempt_count, d.status
  ), claimed AS MATERIALIZED (
    SELECT * FROM moved WHERE status = '${at.status}'
  ), logged AS (
    INSERT INTO delivery_attempts (delivery_id, round, number, at)
    SELECT id, round, attempt_count, svc_now() FROM claimed
  ), counted AS (
    UPDATE webhook_caps c SET hour = date_trunc('hour', svc_now(), 'UTC'), attempts = n.attempts
      + CASE WHEN c.hour = date_trunc('hour', svc_now(), 'UTC') THEN c.attempts ELSE 0 END
    FROM (SELECT tenant_id, count(*)::int AS attempts FROM claimed GROUP BY tenant_id) n
    WHERE c.tenant_id = n.tenant_id AND c.tenant_id = ANY($tenant_id)
  )
  SELECT e.key, e.tenant_id, e.target_id, e.asked, e.room, e.url, e.secrets, e.due_target_ids,
    (SELECT count(*)::int FROM picked p WHERE p.key = e.key) AS picked,
    COALESCE(e.left_over <= (SELECT count(*) FROM claimed n WHERE n.tenant_id = e.tenant_id), false) AS spent,
    (extract(epoch FROM date_trunc('hour', svc_now(), 'UTC') + interval '1 hour' - svc_now()) * 1000)::float8 AS hour_left_ms,
    c.id, c.event_id, c.type, c.round, c.attempt_count, v.body_sealed, v.request_id
  FROM allowed e LEFT JOIN claimed c ON c.key = e.key
    LEFT JOIN LATERAL (SELECT body_sealed, request_id FROM events WHERE id = c.event_id LIMIT 1) v ON true`;

/**
 * SQL for the ids of the tenant's `push` endpoints that have due deliveries. Null if
 * `webhook_endpoint_count` is 0.
 */
const dueTargets = `CASE WHEN t.webhook_endpoint_count > 0 THEN ARRAY(
  SELECT w.id FROM webhook_endpoints w
  WHERE w.tenant_id = t.id AND w.kind = 'push' AND EXISTS (
    SELECT FROM deliveries d WHERE d.target_id = w.id AND d.status = 'queued' AND d.due_at <= svc_now()
      AND d.next_attempt_at <= svc_now())) END`;

export const claimSettingsRows = statement(
  { tenant_id: 'uuid[]', asked: 'int[]', attempts_max: 'int' },
  claimSql({
    key: 'tenant_id',
    status: 'pending',
    endpoint: `SELECT a.tenant_id AS key, a.tenant_id, NULL::uuid AS target_id, a.asked, t.webhook_url AS url,
      t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL AS notified,
      ${dueTargets} AS due_target_ids
    FROM unnest($tenant_id, $asked) AS a (tenant_id, asked)
    CROSS JOIN LATERAL (SELECT * FROM tenants WHERE id = a.tenant_id LIMIT 1) t`,
    room: 'LEAST(e.asked, cap.left_over)',
    secrets: `(
        SELECT jsonb_agg(jsonb_build_object('id', s.id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.created_at DESC)
        FROM tenant_secrets s WHERE s.tenant_id = e.tenant_id AND s.kind = 'webhook'
          AND (s.expires_at IS NULL OR s.expires_at > svc_now())
      )`,
    unwanted: '',
  }),
);

/**
 * The endpoints of one tenant share the attempts that the tenant's webhook cap leaves in this hour.
 * A retired endpoint gets only `settings.changed` (decision 35).
 */
export const claimEndpointRows = statement(
  { tenant_id: 'uuid[]', target_id: 'uuid[]', asked: 'int[]', attempts_max: 'int' },
  claimSql({
    key: 'target_id',
    status: 'queued',
    endpoint: `SELECT a.target_id AS key, a.tenant_id, a.target_id, a.asked, w.url,
      w.id IS NOT NULL AND w.disabled_at IS NULL AS notified, w.retired_at IS NOT NULL AS retired,
      NULL::uuid[] AS due_target_ids, w.secret_sealed, w.secret_version,
      CASE WHEN w.previous_secret_expires_at > svc_now() THEN w.previous_secret_sealed END AS previous_sealed
    FROM unnest($tenant_id, $target_id, $asked) AS a (tenant_id, target_id, asked)
    LEFT JOIN LATERAL (SELECT * FROM webhook_endpoints WHERE id = a.target_id LIMIT 1) w ON true`,
    room: `CASE WHEN cap.left_over IS NULL THEN e.asked ELSE GREATEST(LEAST(e.asked, cap.left_over
        - COALESCE(sum(e.asked) OVER (PARTITION BY e.tenant_id ORDER BY e.key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
      ), 0) END::int`,
    secrets: `jsonb_path_query_array(jsonb_build_array(
        jsonb_build_object('id', e.key, 'version', e.secret_version, 'sealed', encode(e.secret_sealed, 'base64')),
        jsonb_build_object('id', e.key, 'version', e.secret_version - 1, 'sealed', encode(e.previous_sealed, 'base64'))
      ), '$[*] ? (@.sealed != null)')`,
    unwanted: ` OR (e.retired AND d.type <> 'settings.changed')`,
  }),
);
