import { runLimitMs, startDeadlineMs, toWireId, transitions } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { inFlightIds } from '../schema/submission-states.ts';
import { openFindings, type QuotedPrices } from './findings.ts';

/**
 * The node of a submission that some unknown node may have begun. No node has this id, so none can
 * report an outcome of it.
 */
export const unknownNodeId = '00000000-0000-0000-0000-000000000000';

/** The most submissions in `RecoveryStatus.open`. `findings` counts all of them. */
const openShownMax = 1_000;

/** The state of a recovery from a backup (CONTRACT 7, "Recovery"). */
export interface RecoveryStatus {
  readonly incarnation: number;
  readonly beganAt: Date;
  /** Null while the recovery is in force. */
  readonly endedAt: Date | null;
  /** The number of submissions in flight, by state. */
  readonly inFlight: Readonly<Record<string, number>>;
  /**
   * UUIDs of the nodes that have not reported their whole history. Disabled nodes are left out. A
   * node without a link in the backup may have had one later, so it is not left out.
   */
  readonly missingNodes: readonly string[];
  /** The nodes whose receipts could not be read. Disabled nodes are left out. */
  readonly unreadable: readonly UnreadableReports[];
  /** The number of reported submissions by finding. */
  readonly findings: Readonly<Record<string, number>>;
  /** The number of reports with one of `openFindings`. */
  readonly openCount: number;
  /** The first `openShownMax` of them, by submission. */
  readonly open: readonly OpenReport[];
}

/** `nodeId` is a UUID. */
export interface UnreadableReports {
  readonly nodeId: string;
  readonly reports: number;
}

/**
 * A report that an operator has to decide, usually of a submission that is not in the database. Ids
 * are UUIDs. `quoted` is null unless the finding is `rate_card_missing`.
 */
export interface OpenReport {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly tenantId: string | null;
  readonly finding: string;
  readonly quoted: QuotedPrices | null;
}

export type RecoveryBegin = { kind: 'begun'; incarnation: number } | { kind: 'in_force' };

export async function beginRecovery(store: Store, by: Author): Promise<RecoveryBegin> {
  try {
    return await store.transaction(async (query): Promise<RecoveryBegin> => {
      // Waits for each transaction that has read that no recovery is in force
      // (`lockRecoveryInForce`).
      await query('LOCK TABLE recoveries IN EXCLUSIVE MODE', []);
      const [row] = await query<{ incarnation: number }>(
        `INSERT INTO recoveries (incarnation, began_at)
         SELECT COALESCE(max(incarnation), 1) + 1, svc_now() FROM recoveries RETURNING incarnation`,
        [],
      );
      if (row === undefined) throw new Error('the recovery was not inserted');
      const { incarnation } = row;
      await passReadPositions(query);
      await appendAudit(query, by, { ...change('begin', incarnation), after: { incarnation } });
      return { kind: 'begun', incarnation };
    });
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return { kind: 'in_force' };
    throw error;
  }
}

/**
 * Raises the positions of all polled events above each position that a tenant may have read before
 * the restore. Otherwise the tenant's cursor would skip new events.
 */
async function passReadPositions(query: Query): Promise<void> {
  // Adds the current time, which is larger after each restore of the same backup.
  const [row] = await query<{ nowMs: bigint }>(
    'SELECT (extract(epoch FROM svc_now()) * 1000)::bigint AS "nowMs"',
    [],
  );
  const nowMs = row?.nowMs;
  await query('UPDATE webhook_endpoints SET last_position = last_position + $1', [nowMs]);
  await query(`UPDATE deliveries SET position = position + $1 WHERE status = 'waiting'`, [nowMs]);
}

export type RecoveryEnd =
  | { kind: 'ended'; incarnation: number }
  | { kind: 'none_in_force' }
  /**
   * Some nodes have not reported or sent unreadable reports, or `status.open` is not empty. `force`
   * ends the recovery anyway.
   */
  | { kind: 'incomplete'; status: RecoveryStatus };

export async function endRecovery(
  store: Store,
  { force }: { readonly force: boolean },
  by: Author,
): Promise<RecoveryEnd> {
  return store.transaction(async (query): Promise<RecoveryEnd> => {
    await query('SELECT 1 FROM recoveries WHERE ended_at IS NULL FOR UPDATE', []);
    const status = await readRecovery({ query });
    if (status === null || status.endedAt !== null) return { kind: 'none_in_force' };
    const { incarnation, missingNodes, unreadable, open, openCount } = status;
    const undecided = missingNodes.length + unreadable.length + openCount;
    if (!force && undecided > 0) return { kind: 'incomplete', status };
    await expireUnreported(query, incarnation);
    await query('UPDATE recoveries SET ended_at = svc_now() WHERE incarnation = $1', [incarnation]);
    const after = {
      forced: force,
      missingNodes: missingNodes.map((id) => toWireId('nod', id)),
      unreadable: unreadable.map(({ nodeId }) => toWireId('nod', nodeId)),
      openCount,
      open: open.map(({ submissionId }) => toWireId('sub', submissionId)),
    };
    await appendAudit(query, by, { ...change('end', incarnation), after });
    return { kind: 'ended', incarnation };
  });
}

/**
 * Ends the leases of submissions that a node may have begun after the backup without reporting them.
 * They end as `node_lost` with `outcomeUnknown`.
 */
async function expireUnreported(query: Query, incarnation: number): Promise<void> {
  // A `pending` submission is included if a node may have it. Its rejection would free its key.
  await query(
    `UPDATE submissions s SET state = $2, started_at = svc_now(), lease_expires_at = svc_now(),
       node_id = COALESCE(node_id, $4::uuid), dispatched_at = COALESCE(dispatched_at, svc_now()),
       start_deadline_at = COALESCE(start_deadline_at, svc_now() + $5 * interval '1 millisecond'),
       run_deadline_at = COALESCE(run_deadline_at, svc_now() + $6 * interval '1 millisecond')
     WHERE id = ANY(${inFlightIds}) AND CASE WHEN state = ANY($7) THEN EXISTS (
         SELECT FROM nodes n JOIN recoveries r ON r.incarnation = $1
         WHERE (n.disabled_at IS NULL OR n.disabled_at >= r.began_at) AND NOT EXISTS (
           SELECT FROM recovery_nodes d WHERE d.incarnation = $1 AND d.node_id = n.id)
         UNION ALL
         SELECT FROM recovery_unreadable u WHERE u.incarnation = $1 AND u.reports > 0)
       ELSE state = ANY($3) AND NOT EXISTS (SELECT FROM recovery_findings p
         WHERE p.incarnation = $1 AND p.submission_id = s.id AND p.node_id = s.node_id) END`,
    [
      incarnation,
      transitions.begin.to,
      transitions.begin.from,
      unknownNodeId,
      startDeadlineMs,
      runLimitMs.standard,
      transitions.dispatch.from,
    ],
  );
}

function change(verb: 'begin' | 'end', incarnation: number) {
  return {
    action: `recovery.${verb}`,
    subject: { kind: 'service' as const, id: `recovery:${incarnation}` },
    before: null,
  };
}

interface StatusRow extends Omit<RecoveryStatus, 'inFlight' | 'findings' | 'openCount'> {
  readonly inFlight: Record<string, number> | null;
  readonly findings: Record<string, number> | null;
}

/** The newest recovery, in force or ended. Null if there was none. */
export async function readRecovery({
  query,
}: {
  readonly query: Query;
}): Promise<RecoveryStatus | null> {
  const [row] = await query<StatusRow>(
    `SELECT r.incarnation, r.began_at AS "beganAt", r.ended_at AS "endedAt",
       (SELECT jsonb_object_agg(state, n) FROM (
         SELECT s.state, count(*) AS n FROM submissions_in_flight f
         JOIN submissions s ON s.id = f.submission_id GROUP BY 1) AS states) AS "inFlight",
       ARRAY(SELECT n.id FROM nodes n WHERE n.disabled_at IS NULL
         AND NOT EXISTS (SELECT FROM recovery_nodes d
           WHERE d.incarnation = r.incarnation AND d.node_id = n.id) ORDER BY n.id) AS "missingNodes",
       COALESCE((SELECT jsonb_agg(jsonb_build_object('nodeId', u.node_id, 'reports', u.reports) ORDER BY u.node_id)
         FROM recovery_unreadable u JOIN nodes n ON n.id = u.node_id
         WHERE u.incarnation = r.incarnation AND u.reports > 0 AND n.disabled_at IS NULL),
         '[]'::jsonb) AS unreadable,
       (SELECT jsonb_object_agg(finding, n) FROM (
         SELECT finding, count(*) AS n FROM recovery_findings p
         WHERE p.incarnation = r.incarnation GROUP BY 1) AS findings) AS findings,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('submissionId', submission_id, 'nodeId', node_id,
           'tenantId', tenant_id, 'finding', finding, 'quoted', quoted) ORDER BY submission_id, node_id)
         FROM (SELECT * FROM recovery_findings p
           WHERE p.incarnation = r.incarnation AND p.finding = ANY($1::text[])
           ORDER BY submission_id, node_id LIMIT $2) AS shown),
         '[]'::jsonb) AS open
     FROM recoveries r ORDER BY r.incarnation DESC LIMIT 1`,
    [openFindings, openShownMax],
  );
  if (row === undefined) return null;
  const findings = row.findings ?? {};
  const openCount = openFindings.reduce((sum, finding) => sum + (findings[finding] ?? 0), 0);
  return { ...row, inFlight: row.inFlight ?? {}, findings, openCount };
}
