import type { Sealer } from '../connection/store.ts';
import { receiptPlace } from '../sealing/sealed.ts';

/**
 * The contents of a sealed proof of an assignment, which the node keeps. If a restored database
 * lacks the submission, the service inserts it again from this proof.
 */
export interface Receipt {
  readonly tenantId: string;
  readonly idempotencyKey: string;
  /** Base64. */
  readonly requestHash: string;
  readonly requestId: string;
  readonly jobType: string;
  readonly tier: string;
  /** Amounts are micros, and `surge` is in millionths, all as decimal texts. */
  readonly estimated: string;
  readonly max: string;
  readonly surge: string;
  readonly rateCardVersion: number;
  /** The available credits of the tenant after the hold, in micros. */
  readonly availableAfter: string;
  readonly createdAt: string;
}

export const receiptSql = `jsonb_build_object('tenantId', tenant_id, 'idempotencyKey', idempotency_key,
  'requestHash', encode(request_hash, 'base64'), 'requestId', request_id, 'jobType', job_type,
  'tier', tier, 'estimated', quote_estimated_micros::text, 'max', quote_max_micros::text,
  'surge', surge_micros::text, 'rateCardVersion', rate_card_version,
  'availableAfter', available_after_micros::text, 'createdAt', created_at)::text`;

interface Assigned {
  readonly submissionId: string;
  readonly nodeId: string;
}

/** Returns base64. */
export function sealReceipt(sealer: Sealer, assigned: Assigned, text: string): string {
  return Buffer.from(sealer.seal(receiptPlace(assigned), text)).toString('base64');
}

/**
 * Opens a receipt. Null if it is malformed, belongs to another node or submission, or is sealed
 * under a key that was dropped.
 */
export function openReceipt(sealer: Sealer, assigned: Assigned, receipt: string): Receipt | null {
  try {
    const opened = sealer.unseal(receiptPlace(assigned), Buffer.from(receipt, 'base64'));
    return JSON.parse(Buffer.from(opened).toString('utf8'));
  } catch {
    return null;
  }
}
