import { randomUUID } from 'node:crypto';
import { type OfferRecord, toWireId } from '@svc/domain';
import { expect, test } from 'vitest';
import { commitRunning } from './assignments/begin.ts';
import { commitDispatched } from './assignments/dispatch.ts';
import { storeOutcome } from './assignments/outcomes.ts';
import { recordUsage } from './assignments/usage-reports.ts';
import { flushCounters } from './counters.fixture.ts';
import { recordAttempt } from './deliveries/attempts.ts';
import { claimDue } from './deliveries/claims.ts';
import { seedEnded } from './ended.fixture.ts';
import { settle } from './endings/endings.ts';
import { startLifeLog } from './life-log.fixture.ts';
import { createFixture, type Fixture, usage } from './store.fixture.ts';

/**
 * Measures the WAL and the index pages that a submission's whole life costs (decision 49). A life
 * goes from the hold to the recorded delivery.
 */

const tenants = 8;
const rounds = 10;
/**
 * The test measures up to this many times and takes the best figures. A long transaction in another
 * test's database can raise the WAL of a life to 7,000 bytes.
 */
const partsMax = 12;
/**
 * The most bytes of WAL for one life. Measured: 5,700. Before the changes of decision 49 it was
 * 7,000.
 */
const logBytesMax = 6_800;
/**
 * The least share of updates that change no index. Measured: 0.89. If indexes contained the state
 * of a submission, the share would be 0.17.
 */
const heapOnlyShareMin = 0.8;
/**
 * The most pages of one index that a life may read. Measured: 20 pages of the primary key of
 * `submissions`, and fewer pages of each other index.
 */
const indexPagesMax = 40;

interface Written {
  readonly logBytes: number;
  readonly updates: number;
  readonly heapOnly: number;
}

async function writtenSoFar(fixture: Fixture): Promise<Written> {
  await flushCounters(fixture);
  const [row] = await fixture.database.query<Written>(`
    SELECT (SELECT sum(w.wal_bytes)::float8 FROM pg_stat_activity a, pg_stat_get_backend_wal(a.pid) w
        WHERE a.datname = current_database()) AS "logBytes",
      sum(n_tup_upd)::int AS updates, sum(n_tup_hot_upd)::int AS "heapOnly" FROM pg_stat_user_tables`);
  return row ?? { logBytes: 0, updates: 0, heapOnly: 0 };
}

function offerTo(nodeId: string): OfferRecord {
  const now = new Date().toISOString();
  const offerId = toWireId('ofr', randomUUID());
  return { offerId, nodeId, answer: 'accepted', offeredAt: now, answeredAt: now };
}

async function live({ store, hold }: Fixture, tenantId: string, nodeId: string): Promise<void> {
  const { id: submissionId } = await hold(tenantId, { key: randomUUID() });
  const at = { submissionId, nodeId };
  await commitDispatched(store, { ...at, offers: [offerTo(nodeId)] });
  await commitRunning(store, { ...at, instanceId: 'instance-1' });
  await recordUsage(store, { ...at, usage: usage({ actions: '1', nodeSeconds: '1' }) });
  const used = usage({ actions: '2', nodeSeconds: '2', cpuSeconds: '1' });
  await storeOutcome(store, { ...at, outcome: { kind: 'completed', usage: used, result: {} } });
  await settle(store, [submissionId]);
}

async function deliver({ store }: Fixture, tenantIds: readonly string[]): Promise<void> {
  const claims = await claimDue(
    store,
    tenantIds.map((tenantId) => ({ tenantId, attemptsMax: 8 })),
  );
  const observed = { statusCode: 200, durationMs: 1, error: null, responseText: 'ok' };
  const attempts = claims.flatMap((claim) => claim.attempts);
  expect(attempts).toHaveLength(tenantIds.length);
  await Promise.all(
    attempts.map((attempt) =>
      recordAttempt(store, { ...attempt, ...observed, verdict: { kind: 'delivered' } }),
    ),
  );
}

test('a life writes a bounded log, and most of its updates change no index', async () => {
  const fixture = await createFixture();
  const url = 'https://hooks.example.com/svc';
  const ids = await Promise.all(Array.from({ length: tenants }, () => fixture.tenant(9_000, url)));
  const nodeId = await fixture.node();
  const lives = async () => {
    await Promise.all(ids.map((tenantId) => live(fixture, tenantId, nodeId)));
    await deliver(fixture, ids);
  };
  for (let round = 0; round < 3; round += 1) await lives();
  const log = await startLifeLog(fixture);
  let [parts, logBytes, heapOnlyShare] = [0, Infinity, 0];
  while (parts < partsMax && (logBytes > logBytesMax || heapOnlyShare < heapOnlyShareMin)) {
    parts += 1;
    const before = await writtenSoFar(fixture);
    for (let round = 0; round < rounds; round += 1) await lives();
    const after = await writtenSoFar(fixture);
    const updates = after.updates - before.updates;
    expect(updates).toBeGreaterThan(5 * rounds * tenants);
    logBytes = Math.min(logBytes, (after.logBytes - before.logBytes) / (rounds * tenants));
    heapOnlyShare = Math.max(heapOnlyShare, (after.heapOnly - before.heapOnly) / updates);
  }
  await log.report(parts * rounds * tenants);
  expect({ logBytes, isDear: logBytes > logBytesMax }).toMatchObject({ isDear: false });
  expect({ heapOnlyShare, isLow: heapOnlyShare < heapOnlyShareMin }).toMatchObject({
    isLow: false,
  });
});

async function pagesSoFar(fixture: Fixture): Promise<ReadonlyMap<string, number>> {
  await flushCounters(fixture);
  const rows = await fixture.database.query<{ name: string; pages: number }>(`
    SELECT indexrelname AS name, (idx_blks_read + idx_blks_hit)::int AS pages FROM pg_statio_user_indexes`);
  return new Map(rows.map(({ name, pages }) => [name, pages]));
}

test('a life reads few pages of an index that has grown since its statistics were taken', async () => {
  const fixture = await createFixture();
  await seedEnded(fixture, { tenantId: await fixture.tenant(), rows: 5_000 });
  await fixture.database.query('ANALYZE');
  await seedEnded(fixture, { tenantId: await fixture.tenant(), rows: 20_000, payload: 'kept' });
  const tenantId = await fixture.tenant(9_000, 'https://hooks.example.com/svc');
  const nodeId = await fixture.node();
  const before = await pagesSoFar(fixture);
  for (let round = 0; round < rounds; round += 1) {
    await live(fixture, tenantId, nodeId);
    await deliver(fixture, [tenantId]);
  }
  const pagesOfALife = [...(await pagesSoFar(fixture))].map(([name, pages]) => {
    return [name, (pages - (before.get(name) ?? 0)) / rounds] as const;
  });
  expect(pagesOfALife.filter(([, pages]) => pages > indexPagesMax)).toEqual([]);
});
