import type { RateJson, Tier } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Sealer } from '../connection/store.ts';
import { isKeyInUse, isUnknownKey } from '../sealing/key-holders.ts';
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
  readonly tier: Tier;
  /** Amounts are micros, and `surge` is in millionths, all as decimal texts. */
  readonly estimated: string;
  readonly max: string;
  readonly surge: string;
  readonly rateCardVersion: number;
  /**
   * The prices of the quote, because a restored database may lack the card of `rateCardVersion`, or
   * have another one. Receipts of an older version, or without a readable card, omit it.
   */
  readonly rate?: RateJson;
  /** The available credits of the tenant after the hold, in micros. */
  readonly availableAfter: string;
  readonly createdAt: string;
  /** The node for which the receipt was sealed. Receipts of an older version omit it. */
  readonly nodeId?: string;
}

export const receiptSql = `jsonb_build_object('tenantId', tenant_id, 'idempotencyKey', idempotency_key,
  'requestHash', encode(request_hash, 'base64'), 'requestId', request_id, 'jobType', job_type,
  'tier', tier, 'estimated', quote_estimated_micros::text, 'max', quote_max_micros::text,
  'surge', surge_micros::text, 'rateCardVersion', rate_card_version,
  'availableAfter', available_after_micros::text, 'createdAt', created_at, 'nodeId', node_id)::text`;

interface Assigned {
  readonly submissionId: string;
  readonly nodeId: string;
}

/** Seals the text of `receiptSql` together with the prices of the quote. Returns base64. */
export function sealReceipt(
  sealer: Sealer,
  assigned: Assigned,
  text: string,
  rate: RateJson | undefined,
): string {
  const whole = rate === undefined ? text : JSON.stringify({ ...JSON.parse(text), rate });
  return Buffer.from(sealer.seal(receiptPlace(assigned), whole)).toString('base64');
}

/**
 * Opens a receipt. Null if it is malformed, not of this node and submission, or sealed under a
 * dropped key. Throws if its key is in use, but not in this process.
 */
export async function openReceipt(
  query: Query,
  sealer: Sealer,
  { receipt: text, ...assigned }: Assigned & { readonly receipt: string },
): Promise<Receipt | null> {
  try {
    const opened = sealer.unseal(receiptPlace(assigned), Buffer.from(text, 'base64'));
    const receipt: Receipt = JSON.parse(Buffer.from(opened).toString('utf8'));
    // Before the phase `bound`, the sealing itself does not bind a value to a node.
    return (receipt.nodeId ?? assigned.nodeId) === assigned.nodeId ? receipt : null;
  } catch (error) {
    if (isUnknownKey(error) && (await isKeyInUse(query, error))) throw error;
    return null;
  }
}
