import type { RateJson } from '@svc/domain';
import type { Query } from '../connection/query.ts';

/**
 * The result of applying a node's report about a submission. If it is one of `openFindings`, an
 * operator has to decide.
 */
export type ReportFinding =
  /** The submission was assigned to this node, in the reported state or a later one. */
  | 'known'
  /** The submission was in an earlier state, and got the reported one. */
  | 'advanced'
  /** The submission was missing, and was inserted again with its hold. */
  | 'restored'
  /** The receipt is of this node, but the database has the submission at another node. */
  | 'not_this_nodes'
  /** The available credits do not cover the hold. */
  | 'waits_for_credits'
  | 'unknown_tenant'
  | 'key_taken'
  /** The database rejected the submission, so its key is free. */
  | 'rejected'
  /** The database has no card with the prices of the quote. */
  | 'rate_card_missing'
  /** The receipt cannot be opened, and the database has not assigned the submission to the node. */
  | 'unreadable';

/** The findings that an operator has to decide. The node repeats such a report. */
export const openFindings = [
  'waits_for_credits',
  'unknown_tenant',
  'key_taken',
  'rejected',
  'rate_card_missing',
] as const satisfies readonly ReportFinding[];

export interface Finding {
  readonly incarnation: number;
  readonly submissionId: string;
  readonly nodeId: string;
  readonly tenantId: string | null;
  readonly finding: ReportFinding;
  /** The prices of the quote, for `rate_card_missing`. Null if the receipt has none. */
  readonly quoted: QuotedPrices | null;
}

export interface QuotedPrices {
  readonly rateCardVersion: number;
  readonly jobType: string;
  readonly tier: string;
  readonly rate: RateJson | null;
}

/** Stores a finding. It replaces an earlier one of the same node and submission only. */
export async function noteFinding(query: Query, noted: Finding): Promise<void> {
  const { incarnation, submissionId, nodeId, tenantId, finding, quoted } = noted;
  await query(
    `INSERT INTO recovery_findings AS f (incarnation, submission_id, node_id, tenant_id, finding, quoted, reported_at)
     VALUES ($1, $2::uuid, $3::uuid, $4::uuid, $5, $6::jsonb, svc_now())
     ON CONFLICT (incarnation, submission_id, node_id) DO UPDATE SET
       finding = CASE WHEN excluded.finding = 'known' AND f.finding <> ALL($7::text[]) THEN f.finding
         ELSE excluded.finding END,
       tenant_id = excluded.tenant_id, quoted = excluded.quoted, reported_at = excluded.reported_at`,
    [
      incarnation,
      submissionId,
      nodeId,
      tenantId,
      finding,
      quoted === null ? null : JSON.stringify(quoted),
      openFindings,
    ],
  );
}

/**
 * Counts an unreadable report of a node. Its submission is not stored: a node can make up any number
 * of ids.
 */
export async function countUnreadable(
  query: Query,
  { incarnation, nodeId }: Pick<Finding, 'incarnation' | 'nodeId'>,
): Promise<void> {
  await query(
    `INSERT INTO recovery_unreadable AS u (incarnation, node_id, reports)
     VALUES ($1, $2::uuid, 1)
     ON CONFLICT (incarnation, node_id) DO UPDATE SET reports = u.reports + 1`,
    [incarnation, nodeId],
  );
}
