import type { ServiceFailureCode } from '@svc/domain';
import { outcomeBinding, type OutcomeText } from './submissions.ts';
import type { Queryable, Store } from './store.ts';

const serviceFailureMessages: Record<ServiceFailureCode, string> = {
  node_lost: 'The node that ran the submission was lost.',
  not_started: 'The node did not start the submission in time.',
  deadline_exceeded: 'The submission ran longer than its tier allows.',
};

export type ServiceFailureResult = { kind: 'stored'; nodeId: string } | { kind: 'refused' };

/**
 * Ends a submission as the service's own finding (CONTRACT.md section 7, "Nothing hangs"). The
 * condition is looked at again here, by the database's clock: a lease that was renewed meanwhile,
 * or an outcome that came, refuses it. With `nodeId` the finding is that this node said hello
 * without it, which needs no lease to have run out.
 */
export async function storeServiceFailure(
  store: Store,
  failure: { submissionId: string; code: ServiceFailureCode; nodeId?: string },
): Promise<ServiceFailureResult> {
  const { submissionId, code } = failure;
  const nodeId = failure.nodeId ?? null;
  const sealed = sealOutcome(store, submissionId, { message: serviceFailureMessages[code] });
  const [row] = await store.db.$queryRaw<{ node_id: string }[]>`
    UPDATE submissions SET state = 'settling', outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = ${code}, outcome_sealed = ${sealed}
    WHERE id = ${submissionId}::uuid AND state = ANY(${['dispatched', 'running']}) AND CASE ${code}
      WHEN 'node_lost' THEN node_id = ${nodeId}::uuid
        OR (${nodeId}::uuid IS NULL AND state = 'running' AND lease_expires_at <= svc_now())
      WHEN 'not_started' THEN state = 'dispatched' AND start_deadline_at <= svc_now()
      ELSE run_deadline_at <= svc_now() END
    RETURNING node_id`;
  return row === undefined ? { kind: 'refused' } : { kind: 'stored', nodeId: row.node_id };
}

/** What a node was given and has not ended is lost with it; answers what is to be settled. */
export async function loseAssignments(
  store: Store,
  tx: Queryable,
  nodeId: string,
): Promise<string[]> {
  const code: ServiceFailureCode = 'node_lost';
  const assigned = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM submissions WHERE node_id = ${nodeId}::uuid AND state IN ('dispatched', 'running')
    ORDER BY id FOR UPDATE`;
  if (assigned.length === 0) return [];
  const ids = assigned.map(({ id }) => id);
  const rows = ids.map((id) => {
    const sealed = sealOutcome(store, id, { message: serviceFailureMessages[code] });
    return { id, sealed: Buffer.from(sealed).toString('hex') };
  });
  await tx.$executeRaw`
    UPDATE submissions s SET state = 'settling', outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = ${code}, outcome_sealed = decode(r.sealed, 'hex')
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, sealed text)
    WHERE s.id = r.id AND s.id = ANY(${ids}::uuid[])`;
  return ids;
}

/** What is said of an outcome in words, as it is kept. */
export function sealOutcome(store: Store, submissionId: string, text: OutcomeText): Uint8Array {
  return store.sealer.seal(outcomeBinding(submissionId), JSON.stringify(text));
}
