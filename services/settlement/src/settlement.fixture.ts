import { openWorkerFixture, silent } from '@svc/startup/fixture';
import { commitDispatched, commitRunning, storeOutcome } from '@svc/store';
import { usage } from '@svc/store/fixture';
import type { TestDatabaseOptions } from '@svc/testkit';
import { noTracing } from '@svc/tracing';
import type { ReconcileDeps } from './reconcile.ts';

/**
 * The credits that a tenant gets. They are well above the low-balance threshold, because a balance
 * below it would cause one more event.
 */
export const grantedCredits = 5_000;
export const heldCredits = 200;

export type SettlementFixture = Awaited<ReturnType<typeof createSettlementFixture>>;

export async function createSettlementFixture(databaseOptions: TestDatabaseOptions = {}) {
  const fixture = await openWorkerFixture(databaseOptions);
  const { database, store, producer, connection } = fixture;
  const counted: string[] = [];
  const deps: ReconcileDeps = {
    store,
    producer,
    logger: silent,
    tracing: noTracing,
    redis: connection,
    redisPrefix: 'test',
    countSettled: (state) => void counted.push(state),
    timeSettlement: () => {},
    countUsageCapped: (state) => void counted.push(`capped ${state}`),
    countReconciled: (kind) => void counted.push(kind),
  };

  async function moveTo(
    submissionId: string,
    upTo: 'dispatched' | 'running' | 'settling',
  ): Promise<void> {
    const nodeId = await fixture.node();
    await commitDispatched(store, { submissionId, nodeId });
    if (upTo === 'dispatched') return;
    await commitRunning(store, { submissionId, nodeId });
    if (upTo === 'running') return;
    // The default rate card charges 20 + 0.5 × 10 = 25 credits for this outcome.
    const outcome = { kind: 'completed', usage: usage({ actions: '10' }), result: {} } as const;
    await storeOutcome(store, { submissionId, nodeId, outcome });
  }

  return {
    ...fixture,
    deps,
    counted,
    tenant: ({
      webhookUrl,
      credits = grantedCredits,
    }: { webhookUrl?: string; credits?: number } = {}) => fixture.tenant(credits, webhookUrl),
    async submission(
      tenantId: string,
      upTo: 'pending' | 'dispatched' | 'running' | 'settling',
    ): Promise<string> {
      const { id, outcome } = await fixture.hold(tenantId, { max: heldCredits });
      if (outcome.kind !== 'held') throw new Error(outcome.kind);
      if (upTo !== 'pending') await moveTo(id, upTo);
      return id;
    },
    async stateOf(submissionId: string): Promise<{ state: string; failure: string | null }> {
      const [row] = await database.query<{ state: string; failure: string | null }>(
        'SELECT state, failure_code AS failure FROM submissions WHERE id = $1',
        [submissionId],
      );
      if (row === undefined) throw new Error('no such submission');
      return row;
    },
  };
}
