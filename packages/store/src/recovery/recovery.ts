import { toWireId, transitions } from '@svc/domain';
import { appendAudit, type Author } from '../audit-log/audit.ts';
import { sqlState, uniqueViolation } from '../connection/errors.ts';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { inFlightIds } from '../schema/submission-states.ts';

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
  /** The number of reported submissions by finding. */
  readonly findings: Readonly<Record<string, number>>;
  readonly open: readonly OpenReport[];
}

/**
 * A report of a submission that is not in the database and could not be inserted. Ids are UUIDs.
 * `tenantId` is null if the receipt is unreadable.
 */
export interface OpenReport {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly tenantId: string | null;
  readonly finding: string;
}

/** The findings of reported submissions that could not be inserted into the database. */
export const openFindings = [
  'waits_for_credits',
  'unknown_tenant',
  'key_taken',
  'unreadable',
] as const;

/** The incarnation of the recovery in force. Null if there is none. */
export async function recoveryInForce({
  query,
}: {
  readonly query: Query;
}): Promise<number | null> {
  const [row] = await query<{ incarnation: number }>(
    'SELECT incarnation FROM recoveries WHERE ended_at IS NULL',
    [],
  );
  return row?.incarnation ?? null;
}

export type RecoveryBegin = { kind: 'begun'; incarnation: number } | { kind: 'in_force' };

export async function beginRecovery(store: Store, by: Author): Promise<RecoveryBegin> {
  try {
    return await store.transaction(async (query): Promise<RecoveryBegin> => {
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
   * Some nodes have not reported, or `status.open` is not empty. `force` ends the recovery anyway.
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
    const { incarnation, missingNodes, open } = status;
    if (!force && missingNodes.length + open.length > 0) return { kind: 'incomplete', status };
    await expireUnreported(query, incarnation);
    await query('UPDATE recoveries SET ended_at = svc_now() WHERE incarnation = $1', [incarnation]);
    const after = {
      forced: force,
      missingNodes: missingNodes.map((id) => toWireId('nod', id)),
      open: open.map(({ submissionId }) => toWireId('sub', submissionId)),
    };
    await appendAudit(query, by, { ...change('end', incarnation), after });
    return { kind: 'ended', incarnation };
  });
}

/**
 * A node that has not reported may have begun its submissions after the backup. This ends their
 * leases, so that they end as `node_lost` with `outcomeUnknown`.
 */
async function expireUnreported(query: Query, incarnation: number): Promise<void> {
  await query(
    `UPDATE submissions s SET state = $2, started_at = svc_now(), lease_expires_at = svc_now()
     WHERE id = ANY(${inFlightIds}) AND state = ANY($3)
       AND NOT EXISTS (SELECT FROM recovery_nodes d WHERE d.incarnation = $1 AND d.node_id = s.node_id)
       AND NOT EXISTS (SELECT FROM recovery_reports p
         WHERE p.incarnation = $1 AND p.submission_id = s.id AND p.node_id = s.node_id)`,
    [incarnation, transitions.begin.to, transitions.begin.from],
  );
}

function change(verb: 'begin' | 'end', incarnation: number) {
  return {
    action: `recovery.${verb}`,
    subject: { kind: 'service' as const, id: `recovery:${incarnation}` },
    before: null,
  };
}

interface StatusRow extends Omit<RecoveryStatus, 'inFlight' | 'findings'> {
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
       (SELECT jsonb_object_agg(finding, n) FROM (
         SELECT finding, count(*) AS n FROM recovery_reports p
         WHERE p.incarnation = r.incarnation GROUP BY 1) AS findings) AS findings,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('submissionId', submission_id, 'nodeId', node_id,
           'tenantId', tenant_id, 'finding', finding) ORDER BY submission_id)
         FROM recovery_reports p WHERE p.incarnation = r.incarnation AND p.finding = ANY($1::text[])),
         '[]'::jsonb) AS open
     FROM recoveries r ORDER BY r.incarnation DESC LIMIT 1`,
    [openFindings],
  );
  if (row === undefined) return null;
  return { ...row, inFlight: row.inFlight ?? {}, findings: row.findings ?? {} };
}
