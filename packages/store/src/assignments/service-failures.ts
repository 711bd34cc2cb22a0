import { type ServiceFailureCode, transitions } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';
import { outcomePlace } from '../sealing/sealed.ts';
import { tenantsOf } from '../submissions/submission-tenants.ts';
import { type OutcomeText } from '../submissions/submissions.ts';
import { nodeEndingsSql } from './node-endings.ts';

const serviceFailureMessages: Record<ServiceFailureCode, string> = {
  node_lost: 'The node was lost before it reported an outcome of this submission.',
  not_started: 'The node did not start the submission in time.',
  deadline_exceeded: 'The submission took longer than its tier allows.',
};

export type ServiceFailureResult = { kind: 'stored'; nodeId: string } | { kind: 'refused' };

/**
 * Stores a failure if the time limit for its `code` is over (CONTRACT 7, "Nothing hangs") and no
 * recovery is in force. Returns `refused` if nothing was stored.
 */
export async function storeServiceFailure(
  store: Store,
  failure: { submissionId: string; code: ServiceFailureCode },
): Promise<ServiceFailureResult> {
  const { submissionId, code } = failure;
  const tenantId = (await tenantsOf(store, [submissionId])).get(submissionId);
  if (tenantId === undefined) return { kind: 'refused' };
  const sealed = sealServiceFailure(store, { id: submissionId, tenantId }, code);
  const [row] = await storeFailure<{ node_id: string }>(store.query, {
    id: submissionId,
    code,
    sealed,
    ...transitions.store_outcome,
    dispatched: transitions.dispatch.to,
    begun: transitions.begin.to,
  });
  return row === undefined ? { kind: 'refused' } : { kind: 'stored', nodeId: row.node_id };
}

const storeFailure = statement(
  {
    id: 'uuid',
    code: 'text',
    sealed: 'bytea',
    from: 'text[]',
    to: 'text',
    dispatched: 'text',
    begun: 'text',
  },
  `
  WITH ended AS (
    UPDATE submissions SET state = $to, outcome_kind = 'failed', outcome_by = 'service',
      outcome_at = svc_now(), failure_code = $code, outcome_sealed = $sealed
    WHERE id = $id AND state = ANY($from) AND CASE $code
      WHEN 'node_lost' THEN state = $begun AND lease_expires_at <= svc_now()
      WHEN 'not_started' THEN state = $dispatched AND start_deadline_at <= svc_now()
      ELSE run_deadline_at <= svc_now() END
      AND NOT EXISTS (SELECT FROM recoveries WHERE ended_at IS NULL)
    RETURNING node_id, dispatched_at, outcome_by, failure_code
  ), ${nodeEndingsSql}
  SELECT node_id FROM ended`,
);

export function sealServiceFailure(
  store: Store,
  { id, tenantId }: { id: string; tenantId: string },
  code: ServiceFailureCode,
): Uint8Array {
  const text = { message: serviceFailureMessages[code] };
  return sealOutcome(store, { id, tenantId, kind: 'failed' }, text);
}

export function sealOutcome(
  store: Store,
  at: { id: string; tenantId: string; kind: 'completed' | 'failed' },
  text: OutcomeText,
): Uint8Array {
  return store.sealer.seal(outcomePlace(at), JSON.stringify(text));
}
