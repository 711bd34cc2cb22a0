import { webhookAttemptsMax, webhookResponseKeptBytesMax, webhookTimeoutMs } from '@svc/domain';
import { eventBinding } from './outbox.ts';
import { unsealText } from './sealed.ts';
import type { Queryable, Store } from './store.ts';
import { dropPendingDeliveries, findWebhookSecrets } from './tenants.ts';

/** How long a claimed attempt may stay unrecorded before the delivery is due again. */
export const attemptClaimMs = 2 * webhookTimeoutMs;

export interface ClaimedAttempt {
  deliveryId: string;
  tenantId: string;
  eventId: string;
  type: string;
  round: number;
  /** From 1. */
  attemptNumber: number;
  url: string;
  /** Valid now: one, or two while a rotation overlaps. */
  secrets: string[];
  /** The exact text to sign and send. */
  body: string;
  requestId: string | null;
}

interface ClaimedRow {
  id: string;
  tenant_id: string;
  event_id: string;
  type: string;
  round: number;
  attempt_count: number;
  webhook_url: string;
  body_sealed: Uint8Array;
  request_id: string | null;
}

/**
 * Claims those of the deliveries that are due, numbering and logging an attempt for each before
 * it is sent, so that a crash cannot add a ninth (CONTRACT.md section 6). A claim that nobody
 * records is due again after `attemptClaimMs`, as the next attempt. What can never be sent any
 * more (no URL, attempts spent) is ended.
 */
export async function claimAttempts(
  store: Store,
  deliveryIds: string[],
  attemptsMax: number = webhookAttemptsMax,
): Promise<ClaimedAttempt[]> {
  const rows = await store.db.$queryRaw<ClaimedRow[]>`
    WITH due AS (
      SELECT d.id, t.webhook_url FROM deliveries d JOIN tenants t ON t.id = d.tenant_id
      WHERE d.id = ANY(${deliveryIds}::uuid[]) AND d.status = 'pending' AND d.next_attempt_at <= svc_now()
        AND d.attempt_count < ${attemptsMax} AND t.webhook_url IS NOT NULL AND t.webhook_disabled_at IS NULL
      ORDER BY d.id FOR UPDATE OF d SKIP LOCKED
    ), claimed AS (
      UPDATE deliveries d SET attempt_count = d.attempt_count + 1,
        next_attempt_at = svc_now() + ${attemptClaimMs} * interval '1 millisecond'
      FROM due WHERE d.id = due.id
      RETURNING d.id, d.tenant_id, d.event_id, d.type, d.round, d.attempt_count, due.webhook_url
    ), logged AS (
      INSERT INTO delivery_attempts (delivery_id, round, number, at)
      SELECT id, round, attempt_count, svc_now() FROM claimed
    )
    SELECT c.id, c.tenant_id, c.event_id, c.type, c.round, c.attempt_count, c.webhook_url, e.body_sealed, e.request_id
    FROM claimed c JOIN events e ON e.id = c.event_id`;
  if (rows.length < deliveryIds.length) await retireUndeliverable(store, deliveryIds, attemptsMax);
  if (rows.length === 0) return [];
  const secrets = await findWebhookSecrets(
    store,
    rows.map((row) => row.tenant_id),
  );
  return rows.map((row) => ({
    deliveryId: row.id,
    tenantId: row.tenant_id,
    eventId: row.event_id,
    type: row.type,
    round: row.round,
    attemptNumber: row.attempt_count,
    url: row.webhook_url,
    secrets: secrets.get(row.tenant_id) ?? [],
    body: unsealText(store.sealer, eventBinding(row.event_id), row.body_sealed),
    requestId: row.request_id,
  }));
}

async function retireUndeliverable(
  store: Store,
  deliveryIds: string[],
  attemptsMax: number,
): Promise<void> {
  await store.db.$executeRaw`
    UPDATE deliveries d SET next_attempt_at = NULL, finished_at = svc_now(),
      status = CASE WHEN t.webhook_url IS NULL OR t.webhook_disabled_at IS NOT NULL THEN 'dropped' ELSE 'exhausted' END
    FROM tenants t
    WHERE t.id = d.tenant_id AND d.id = ANY(${deliveryIds}::uuid[]) AND d.status = 'pending'
      AND (t.webhook_url IS NULL OR t.webhook_disabled_at IS NOT NULL
        OR (d.attempt_count >= ${attemptsMax} AND d.next_attempt_at <= svc_now()))`;
}

export type AttemptVerdict =
  | { kind: 'delivered' }
  | { kind: 'retry'; delayMs: number }
  | { kind: 'exhausted' }
  /** The endpoint said that it is gone for good (410). */
  | { kind: 'gone' };

export interface AttemptRecord {
  deliveryId: string;
  tenantId: string;
  round: number;
  attemptNumber: number;
  url: string;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  responseText: string | null;
  verdict: AttemptVerdict;
}

/**
 * Records how an attempt went and what follows from it. An attempt that was claimed again
 * meanwhile, or whose delivery has ended, is logged and moves nothing.
 */
export async function recordAttempt(store: Store, attempt: AttemptRecord): Promise<void> {
  const { verdict } = attempt;
  const status = statusOfVerdict[verdict.kind];
  const delayMs = verdict.kind === 'retry' ? Math.ceil(verdict.delayMs) : 0;
  const response = attempt.responseText?.replaceAll('\0', '') ?? null;
  await store.db.$transaction(async (tx) => {
    // The tenant before its deliveries, as where a URL is cleared, so that the two never deadlock.
    const disabled = verdict.kind === 'gone' ? await disableWebhook(tx, attempt) : false;
    await tx.$executeRaw`
      WITH logged AS (
        UPDATE delivery_attempts SET recorded_at = svc_now(), status_code = ${attempt.statusCode},
          duration_ms = ${Math.round(attempt.durationMs)}, error = ${attempt.error},
          response = left(${response}, ${webhookResponseKeptBytesMax})
        WHERE delivery_id = ${attempt.deliveryId}::uuid AND round = ${attempt.round}
          AND number = ${attempt.attemptNumber} AND recorded_at IS NULL
      )
      UPDATE deliveries SET status = ${status},
        next_attempt_at = CASE WHEN ${status} = 'pending' THEN svc_now() + ${delayMs} * interval '1 millisecond' END,
        finished_at = CASE WHEN ${status} <> 'pending' THEN svc_now() END
      WHERE id = ${attempt.deliveryId}::uuid AND status = 'pending' AND round = ${attempt.round}
        AND attempt_count = ${attempt.attemptNumber}`;
    if (disabled) await dropPendingDeliveries(tx, attempt.tenantId);
  });
}

/** Only while the URL that is gone is still the one set. */
async function disableWebhook(
  tx: Queryable,
  { tenantId, url }: Pick<AttemptRecord, 'tenantId' | 'url'>,
): Promise<boolean> {
  const changed = await tx.$executeRaw`
    UPDATE tenants SET webhook_disabled_at = svc_now(), webhook_disabled_reason = 'the endpoint answered 410 Gone'
    WHERE id = ${tenantId}::uuid AND webhook_url = ${url} AND webhook_disabled_at IS NULL`;
  return changed > 0;
}

const statusOfVerdict: Record<AttemptVerdict['kind'], string> = {
  delivered: 'delivered',
  exhausted: 'exhausted',
  gone: 'dropped',
  retry: 'pending',
};

/** Deliveries that are due and not under way, the longest due first. */
export async function findDueDeliveries(store: Store, limit: number): Promise<string[]> {
  const rows = await store.db.$queryRaw<{ id: string }[]>`
    SELECT id FROM deliveries WHERE status = 'pending' AND next_attempt_at <= svc_now()
    ORDER BY next_attempt_at LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}
