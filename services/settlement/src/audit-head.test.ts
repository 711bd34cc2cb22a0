import { silent } from '@svc/startup/fixture';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHeadSealer } from './audit-head.ts';
import { createSettlementFixture, type SettlementFixture } from './settlement.fixture.ts';

let fixture: SettlementFixture;
beforeEach(async () => {
  fixture = await createSettlementFixture();
});
afterEach(() => fixture.close());

interface Sealer {
  readonly counts: readonly number[];
  readonly run: () => Promise<void>;
}

function sealer(): Sealer {
  const counts: number[] = [];
  const { store } = fixture;
  const setAuditFaults = (count: number) => counts.push(count);
  return { counts, run: createHeadSealer({ store, logger: silent, setAuditFaults }) };
}

/**
 * Runs statements as the owner of the database, without the triggers of `audit_log` and
 * `audit_chain`. The role of the services may not disable triggers.
 */
async function asOwner(...statements: string[]): Promise<void> {
  for (const table of ['audit_log', 'audit_chain'])
    await fixture.database.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  for (const statement of statements) await fixture.database.query(statement);
  for (const table of ['audit_log', 'audit_chain'])
    await fixture.database.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}

test('the head of the audit log is sealed, and a tampered log stays in the metric', async () => {
  const { counts, run } = sealer();
  await fixture.tenant();
  await run();
  const [head] = await fixture.database.query<{ position: string }>(
    'SELECT position FROM audit_head',
  );
  expect(Number(head?.position)).toBeGreaterThan(0);
  await asOwner('DELETE FROM audit_chain', 'DELETE FROM audit_log');
  await run();
  await run();
  expect(counts).toEqual([0, 1, 1]);
});

test('a service that sealed a head finds that the log and the head were replaced', async () => {
  const { counts, run } = sealer();
  await fixture.tenant();
  await run();
  await asOwner('DELETE FROM audit_head', 'DELETE FROM audit_chain', 'DELETE FROM audit_log');
  await run();
  await fixture.tenant();
  await run();
  expect(counts).toEqual([0, 1, 1]);
  expect(await fixture.database.query('SELECT FROM audit_head')).toEqual([]);
});

test('a head that is missing although old entries exist is a fault once, and is audited', async () => {
  const first = sealer();
  await fixture.tenant();
  await first.run();
  await asOwner('DELETE FROM audit_head');
  await fixture.advance(3_600_000);
  const restarted = sealer();
  await restarted.run();
  await restarted.run();
  expect({ first: first.counts, restarted: restarted.counts }).toEqual({
    first: [0],
    restarted: [1, 0],
  });
  const [last] = await fixture.database.query<{ action: string; position: string; head: string }>(
    `SELECT action, position, (SELECT position FROM audit_head) AS head
     FROM audit_log JOIN audit_chain ON entry_id = id ORDER BY id DESC LIMIT 1`,
  );
  // The new head covers this audit entry. If somebody removed the entry, a later pass would find
  // that it is missing.
  expect(last).toMatchObject({ action: 'audit.head_missing', head: last?.position });
});
