import type { Tier } from '@svc/domain';
import { testAuthor } from '@svc/testkit';
import { commitDispatched } from '../assignments/dispatch.ts';
import type { Fixture } from '../store.fixture.ts';
import { beginRecovery } from './recovery.ts';

export const begin = ({ store }: Fixture) => beginRecovery(store, testAuthor);

/** Holds a submission and assigns it to a node. Returns the report of the node about it. */
export async function dispatch(
  fixture: Fixture,
  tenantId: string,
  nodeId: string,
  key: string,
  options: { readonly tier?: Tier; readonly max?: number } = {},
) {
  const { id: submissionId } = await fixture.hold(tenantId, { key, ...options });
  const commit = await commitDispatched(fixture.store, { submissionId, nodeId });
  if (commit.kind !== 'dispatched') throw new Error('not dispatched');
  return { submissionId, nodeId, receipt: commit.receipt, isBegun: true, instanceId: 'i' };
}

/** Removes a submission with its hold, as the restore of an older backup does. */
export async function forget({ database }: Fixture, submissionId: string): Promise<void> {
  await database.query(`SET session_replication_role = replica;
    UPDATE credit_accounts a SET held_micros = held_micros - quote_max_micros, in_flight = in_flight - 1
      FROM submissions s WHERE s.id = '${submissionId}' AND a.tenant_id = s.tenant_id;
    DELETE FROM ledger_entries WHERE submission_id = '${submissionId}';
    DELETE FROM submissions_in_flight WHERE submission_id = '${submissionId}';
    DELETE FROM submissions WHERE id = '${submissionId}';
    SET session_replication_role = origin`);
}

/** Gives a submission back the state that a backup has, taken before its dispatch. */
export async function setBack({ database }: Fixture, submissionId: string): Promise<void> {
  await database.query(`SET session_replication_role = replica;
    UPDATE submissions SET state = 'pending', node_id = NULL, dispatched_at = NULL,
      start_deadline_at = NULL, run_deadline_at = NULL WHERE id = '${submissionId}';
    SET session_replication_role = origin`);
}
