import { leaseMs, runLimitMs, startDeadlineMs, type Tier, tiers } from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from '../assignments/begin.ts';
import { cancelSubmission } from '../endings/endings.ts';
import { beginOther, untilLockWait } from '../lock-wait.fixture.ts';
import { disableNode } from '../nodes/changes.ts';
import { createNode } from '../nodes/nodes.ts';
import { createFixture, type Fixture } from '../store.fixture.ts';
import { noteFinding } from './findings.ts';
import { begin, dispatch, forget, setBack } from './recovery.fixture.ts';
import { endRecovery, readRecovery, unknownNodeId } from './recovery.ts';
import { applyReport, noteReported } from './reports.ts';

const reportMs = 60_000;

/** A store whose clock stands still until `later`, which moves it to `reportMs`. */
async function createStill() {
  const fixture = await createFixture();
  const { store, database } = fixture;
  const openedAt = new Date();
  const clockAt = (ms: number) =>
    stopDatabaseClock(database.databaseUrl, new Date(openedAt.getTime() + ms));
  await clockAt(0);
  const [tenantId, nodeId] = [await fixture.tenant(), await fixture.node()];
  return {
    ...fixture,
    clockAt,
    tenantId,
    nodeId,
    assign: (tier: Tier = 'standard', key = 'k') =>
      dispatch(fixture, tenantId, nodeId, key, { tier }),
    later: () => clockAt(reportMs),
    /** The row of a submission. Times are in milliseconds after the opening. */
    row: async (submissionId: string) => {
      const [row] = await database.query<Record<string, unknown>>(
        `SELECT state, node_id, dispatched_at, start_deadline_at, run_deadline_at, started_at,
           lease_expires_at, begun_instance FROM submissions WHERE id = $1`,
        [submissionId],
      );
      return Object.values(row ?? {}).map((value) =>
        value instanceof Date ? value.getTime() - openedAt.getTime() : value,
      );
    },
    end: () => endRecovery(store, { force: true }, testAuthor),
  };
}

const dispatchedAt = (ms: number, nodeId: string, tier: Tier = 'standard') => [
  'dispatched',
  nodeId,
  ms,
  ms + startDeadlineMs,
  ms + runLimitMs[tier],
  null,
  null,
  null,
];

function runningAt(ms: number, nodeId: string, tier: Tier = 'standard') {
  const times = dispatchedAt(ms, nodeId, tier).slice(1, 5);
  return ['running', ...times, ms, ms + leaseMs, 'i'];
}

test.each(tiers.flatMap((tier) => [true, false].map((isBegun) => [tier, isBegun] as const)))(
  'a %s submission that is pending or missing gets all times of its assignment (begun: %s)',
  async (tier, isBegun) => {
    const still = await createStill();
    const { store, row, nodeId } = still;
    const [pending, missing] = [await still.assign(tier, 'a'), await still.assign(tier, 'b')];
    await setBack(still, pending.submissionId);
    await forget(still, missing.submissionId);
    await begin(still);
    await still.later();
    expect(await applyReport(store, { ...pending, isBegun })).toBe('advanced');
    expect(await applyReport(store, { ...missing, isBegun })).toBe('restored');
    const times = isBegun ? runningAt : dispatchedAt;
    for (const { submissionId } of [pending, missing])
      expect(await row(submissionId)).toEqual(times(reportMs, nodeId, tier));
    const [hold] = await still.database.query(
      `SELECT type, amount_micros AS amount, balance_after_micros AS balance, held_after_micros AS held
       FROM ledger_entries WHERE submission_id = $1`,
      [missing.submissionId],
    );
    expect(hold).toEqual({
      type: 'hold',
      amount: '200000000',
      balance: '1000000000',
      held: '400000000',
    });
    const [account] = await still.database.query('SELECT in_flight FROM credit_accounts');
    expect(account).toEqual({ in_flight: 2 });
  },
);

test('a report of an assigned submission keeps its times, and renews what it proves', async () => {
  const still = await createStill();
  const { store, row, nodeId } = still;
  const [begun, waiting, running] = [
    await still.assign('standard', 'a'),
    await still.assign('standard', 'b'),
    await still.assign('standard', 'c'),
  ];
  await commitRunning(store, running);
  await begin(still);
  await still.later();
  expect(await applyReport(store, begun)).toBe('advanced');
  expect(await applyReport(store, { ...waiting, isBegun: false })).toBe('known');
  // A node needs no receipt for a submission that the database has assigned to it.
  expect(await applyReport(store, { ...running, isBegun: false, receipt: '' })).toBe('known');
  const times = dispatchedAt(0, nodeId).slice(1, 5);
  expect(await row(begun.submissionId)).toEqual([
    'running',
    ...times,
    reportMs,
    reportMs + leaseMs,
    'i',
  ]);
  expect(await row(waiting.submissionId)).toEqual(
    dispatchedAt(0, nodeId).with(3, reportMs + startDeadlineMs),
  );
  expect(await row(running.submissionId)).toEqual(runningAt(0, nodeId).with(6, reportMs + leaseMs));
});

test('a report of a run without an instance names none', async () => {
  const still = await createStill();
  const { submissionId, ...report } = await still.assign();
  await setBack(still, submissionId);
  await begin(still);
  await applyReport(still.store, { ...report, submissionId, instanceId: undefined });
  expect(await still.row(submissionId)).toEqual(runningAt(0, still.nodeId).with(7, null));
});

test('a report of an ended submission changes only a missing node', async () => {
  const still = await createStill();
  const { store, row, nodeId, tenantId } = still;
  const [assigned, unassigned] = [
    await still.assign('standard', 'a'),
    await still.assign('standard', 'b'),
  ];
  await setBack(still, unassigned.submissionId);
  for (const { submissionId } of [assigned, unassigned])
    await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  const before = await row(assigned.submissionId);
  const without = await row(unassigned.submissionId);
  await begin(still);
  await still.later();
  for (const report of [assigned, unassigned])
    expect(await applyReport(store, report)).toBe('known');
  expect(await row(assigned.submissionId)).toEqual(before);
  expect(await row(unassigned.submissionId)).toEqual(without.with(1, nodeId));
});

test('credits that just cover the hold restore a submission, and a hold of nothing has no entry', async () => {
  const still = await createStill();
  const { store, tenantId, nodeId, database } = still;
  const other = await still.tenant();
  const exact = await still.assign('standard', 'a');
  const free = await dispatch(still, tenantId, nodeId, 'b', { max: 0 });
  for (const { submissionId } of [exact, free]) await forget(still, submissionId);
  await database.query('UPDATE credit_accounts SET held_micros = 800000001');
  await begin(still);
  expect(await applyReport(store, exact)).toBe('waits_for_credits');
  await database.query(
    'UPDATE credit_accounts SET held_micros = CASE WHEN tenant_id = $1 THEN 0 ELSE 800000000 END',
    [other],
  );
  for (const report of [exact, free]) expect(await applyReport(store, report)).toBe('restored');
  expect(await still.figures(other)).toEqual({ balance: 1_000, held: 0 });
  const entries = await database.query('SELECT submission_id FROM ledger_entries WHERE type = $1', [
    'hold',
  ]);
  expect(entries).toEqual([{ submission_id: exact.submissionId }]);
});

test('a submission of the unknown node goes to the node that has its receipt, in the next recovery', async () => {
  const still = await createStill();
  const { store, row, nodeId, end } = still;
  const report = await still.assign();
  await setBack(still, report.submissionId);
  await begin(still);
  await end();
  expect((await row(report.submissionId))[1]).toBe(unknownNodeId);
  await begin(still);
  expect(await applyReport(store, { ...report, receipt: '' })).toBe('unreadable');
  expect(await applyReport(store, report)).toBe('known');
  expect((await row(report.submissionId))[1]).toBe(nodeId);
});

test.each([
  ['that lacks a tenant', 'unknown_tenant'],
  ['that lacks the card', 'rate_card_missing'],
] as const)(
  'the report of a submission to a database %s is left to an operator',
  async (what, finding) => {
    const still = await createStill();
    const { store, tenantId, database } = still;
    const { submissionId, ...report } = await still.assign();
    await forget(still, submissionId);
    await database.query(
      `SET session_replication_role = replica; ${
        what === 'that lacks a tenant'
          ? 'DELETE FROM credit_accounts'
          : "UPDATE rate_cards SET version = version + 1, created_at = now(), card = jsonb_set(card, '{jobTypes,0,tiers,standard,base}', '\"21\"')"
      }; SET session_replication_role = origin`,
    );
    await begin(still);
    expect(await applyReport(store, { ...report, submissionId })).toBe(finding);
    const quoted = {
      rateCardVersion: 1,
      jobType: 'ats.application',
      tier: 'standard',
      rate: { base: '20' },
    };
    expect((await readRecovery(store))?.open).toMatchObject([
      { submissionId, tenantId, finding, quoted: finding === 'unknown_tenant' ? null : quoted },
    ]);
  },
);

test('two reports of a missing submission at once restore it once', async () => {
  const still = await createStill();
  const report = await still.assign();
  await forget(still, report.submissionId);
  await begin(still);
  const other = await beginOther(still);
  await other.query('SELECT FROM credit_accounts FOR UPDATE');
  const applied = [applyReport(still.store, report), applyReport(still.store, report)];
  await untilLockWait(still, 2);
  await other.commit();
  expect(new Set(await Promise.all(applied))).toEqual(new Set(['known', 'restored']));
  expect(await still.figures(still.tenantId)).toEqual({ balance: 1_000, held: 200 });
});

test('a report waits for an assignment to another node, and does not replace it', async () => {
  const still = await createStill();
  const { submissionId, ...report } = await still.assign();
  const elsewhere = await still.node();
  await setBack(still, submissionId);
  await begin(still);
  const other = await beginOther(still);
  await other.query(
    `UPDATE submissions SET state = 'dispatched', node_id = $1, dispatched_at = svc_now(),
       start_deadline_at = svc_now(), run_deadline_at = svc_now()`,
    [elsewhere],
  );
  const applied = applyReport(still.store, { ...report, submissionId });
  await untilLockWait(still);
  await other.commit();
  expect(await applied).toBe('not_this_nodes');
  expect((await still.row(submissionId)).slice(0, 2)).toEqual(['dispatched', elsewhere]);
});

test('a report that Postgres refuses is not noted', async () => {
  const still = await createStill();
  const { store, database } = still;
  const [pending, missing] = [
    await still.assign('standard', 'a'),
    await still.assign('standard', 'b'),
  ];
  const known = await still.assign('standard', 'c');
  await setBack(still, pending.submissionId);
  await forget(still, missing.submissionId);
  await begin(still);
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$`,
  );
  const refuse = (table: string) =>
    database.query(
      `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION refuse()`,
    );
  await refuse('submissions');
  for (const report of [pending, { ...known, isBegun: false }, missing])
    await expect(applyReport(store, report)).rejects.toThrow('not now');
  await database.query('DROP TRIGGER refuse ON submissions');
  await refuse('ledger_entries');
  await expect(applyReport(store, missing)).rejects.toThrow('not now');
  expect(await still.figures(still.tenantId)).toEqual({ balance: 1_000, held: 400 });
  for (const table of ['recovery_findings', 'recovery_unreadable', 'recovery_nodes'])
    await refuse(table);
  for (const report of [pending, { ...pending, receipt: '' }])
    await expect(applyReport(store, report)).rejects.toThrow('not now');
  await expect(noteReported(store, { nodeId: still.nodeId, unreadable: 0 })).rejects.toThrow(
    'not now',
  );
  expect(await still.state(pending.submissionId)).toBe('pending');
});

test('a node reports for itself and its recovery, which does not end before', async () => {
  const still = await createStill();
  const { store, nodeId, database, end } = still;
  const other = await still.node();
  const unreadable = { submissionId: store.newId(), receipt: '', isBegun: true, instanceId: 'i' };
  await noteReported(store, { nodeId, unreadable: 0 });
  await begin(still);
  for (const one of [nodeId, other]) await applyReport(store, { ...unreadable, nodeId: one });
  await end();
  await noteReported(store, { nodeId, unreadable: 0 });
  expect((await readRecovery(store))?.missingNodes).toHaveLength(2);
  await begin(still);
  for (const one of [nodeId, other]) await applyReport(store, { ...unreadable, nodeId: one });
  await noteReported(store, { nodeId, unreadable: 5 });
  await noteReported(store, { nodeId, unreadable: 4 });
  expect(await readRecovery(store)).toMatchObject({
    missingNodes: [other],
    unreadable: [
      { nodeId, reports: 4 },
      { nodeId: other, reports: 1 },
    ].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
  });
  const counts = await database.query<{ reports: number }>(
    'SELECT reports FROM recovery_unreadable WHERE incarnation = 2',
  );
  expect(counts).toEqual([{ reports: 1 }, { reports: 1 }]);
  const lock = await beginOther(still);
  await lock.query(`SELECT FROM recoveries WHERE ended_at IS NULL FOR UPDATE`);
  const noted = noteReported(store, { nodeId: other, unreadable: 0 });
  await untilLockWait(still);
  await lock.query('UPDATE recoveries SET ended_at = svc_now() WHERE ended_at IS NULL');
  await lock.commit();
  await noted;
  expect((await readRecovery(store))?.missingNodes).toEqual([other]);
});

test('the end of a recovery ends the lease of each submission that was not reported', async () => {
  const still = await createStill();
  const { store, row, nodeId, tenantId, end } = still;
  const assigned = await Promise.all(
    ['a', 'b', 'c', 'd'].map((key) => still.assign('standard', key)),
  );
  const [kept, lost, running, elsewhere] = assigned;
  if (!kept || !lost || !running || !elsewhere) throw new Error('not assigned');
  await commitRunning(store, running);
  const { id: pending } = await still.hold(tenantId);
  const { id: cancelled } = await still.hold(tenantId);
  await cancelSubmission(store, { submissionId: cancelled, tenantId, by: 'tenant' });
  const before = await row(cancelled);
  await begin(still);
  await applyReport(store, { ...kept, isBegun: false });
  // The report of another node proves nothing about the node of a submission.
  const other = await still.node();
  await still.database.query(
    `INSERT INTO recovery_findings (incarnation, submission_id, node_id, finding, reported_at)
     VALUES (2, $1, $2, 'not_this_nodes', svc_now()), (1, $3, $4, 'known', svc_now())`,
    [elsewhere.submissionId, other, lost.submissionId, nodeId],
  );
  await still.later();
  expect(await end()).toMatchObject({ kind: 'ended' });
  expect(await row(kept.submissionId)).toEqual(dispatchedAt(0, nodeId));
  const times = dispatchedAt(0, nodeId).slice(1, 5);
  for (const { submissionId } of [lost, elsewhere])
    expect(await row(submissionId)).toEqual(['running', ...times, reportMs, reportMs, null]);
  // The lease of a run ends by itself.
  expect(await row(running.submissionId)).toEqual(runningAt(0, nodeId));
  const unknown = dispatchedAt(reportMs, unknownNodeId).slice(1, 5);
  expect(await row(pending)).toEqual(['running', ...unknown, reportMs, reportMs, null]);
  expect(await row(cancelled)).toEqual(before);
});

test.each([
  ['before the recovery', -1, 'pending'],
  ['at the begin of the recovery', 0, 'running'],
])('a node that was disabled %s may have pending submissions: %i', async (_, ms, state) => {
  const still = await createStill();
  const { store, nodeId, tenantId } = still;
  const { id } = await still.hold(tenantId);
  await still.clockAt(reportMs + ms);
  await disableNode(store, nodeId, testAuthor);
  await still.later();
  await begin(still);
  await still.database.query(
    'INSERT INTO recovery_unreadable (incarnation, node_id, reports) VALUES (1, $1, 1), (2, $1, 0)',
    [nodeId],
  );
  await still.end();
  expect(await still.state(id)).toBe(state);
});

test('the status counts what is in flight, and both ends of a recovery are in the audit log', async () => {
  const still = await createStill();
  const { store, nodeId, tenantId, database } = still;
  expect(await readRecovery(store)).toBeNull();
  const [disabled, reported] = [await still.node(), await still.node()];
  const last = await still.node();
  // A node that was created last, with the least id.
  const least = '00000000-0000-7000-8000-000000000001';
  await createNode(store, { id: least, name: 'least', secret: 'nsk_1' }, testAuthor);
  const missing = [least, ...[nodeId, last].toSorted()];
  await still.assign('standard', 'a');
  for (const _ of [1, 2]) await still.hold(tenantId);
  await begin(still);
  await disableNode(store, disabled, testAuthor);
  await noteReported(store, { nodeId: reported, unreadable: 0 });
  const unread = {
    submissionId: store.newId(),
    nodeId: reported,
    receipt: '',
    isBegun: true,
  };
  await applyReport(store, { ...unread, instanceId: 'i' });
  const status = await readRecovery(store);
  expect(status).toMatchObject({
    incarnation: 2,
    endedAt: null,
    inFlight: { pending: 2, dispatched: 1 },
    missingNodes: missing,
    unreadable: [{ nodeId: reported, reports: 1 }],
    openCount: 0,
  });
  await still.later();
  await still.end();
  const { beganAt, endedAt } = (await readRecovery(store)) ?? {};
  expect(Number(endedAt) - Number(beganAt)).toBe(reportMs);
  const entries = await database.query(
    `SELECT action, subject_id, before, after->>'incarnation' AS incarnation, after->>'forced' AS forced,
       jsonb_array_length(after->'missingNodes') AS missing, jsonb_array_length(after->'unreadable') AS unreadable
     FROM audit_log WHERE action LIKE 'recovery.%' ORDER BY id`,
  );
  const entry = { subject_id: 'recovery:2', before: null };
  const none = { incarnation: null, forced: null, missing: null, unreadable: null };
  expect(entries).toEqual([
    { ...entry, ...none, action: 'recovery.begin', incarnation: '2' },
    { ...entry, ...none, action: 'recovery.end', forced: 'true', missing: 3, unreadable: 1 },
  ]);
});

test('a second recovery counts nothing of the first, and no node that was disabled before it', async () => {
  const still = await createStill();
  const { store, nodeId, tenantId, end } = still;
  const [other, disabled] = [await still.node(), await still.node()];
  expect(await end()).toEqual({ kind: 'none_in_force' });
  await begin(still);
  const finding = { submissionId: store.newId(), tenantId, quoted: null, nodeId } as const;
  await noteFinding(store.query, { ...finding, incarnation: 2, finding: 'key_taken' });
  for (const one of [nodeId, other, disabled])
    await noteReported(store, { nodeId: one, unreadable: 0 });
  await end();
  const { id: first } = await still.hold(tenantId);
  await still.clockAt(reportMs - 1);
  await disableNode(store, disabled, testAuthor);
  await still.later();
  await begin(still);
  expect(await readRecovery(store)).toMatchObject({
    incarnation: 3,
    missingNodes: [nodeId, other].toSorted(),
    findings: {},
    open: [],
  });
  await noteReported(store, { nodeId, unreadable: 0 });
  await end();
  expect(await still.state(first)).toBe('running');
  const { id: second } = await still.hold(tenantId);
  await begin(still);
  for (const one of [nodeId, other]) await noteReported(store, { nodeId: one, unreadable: 0 });
  await end();
  expect(await still.state(second)).toBe('pending');
});

test('each of a missing node, an unreadable receipt and an open finding keeps a recovery from its end', async () => {
  const still = await createStill();
  const { store, nodeId, tenantId } = still;
  await still.node();
  await begin(still);
  const unread = { submissionId: store.newId(), nodeId, receipt: '', isBegun: true };
  await applyReport(store, { ...unread, instanceId: 'i' });
  await noteReported(store, { nodeId, unreadable: 1 });
  const end = async () => (await endRecovery(store, { force: false }, testAuthor)).kind;
  expect(await end()).toBe('incomplete');
  for (const id of (await readRecovery(store))?.missingNodes ?? [])
    await noteReported(store, { nodeId: id, unreadable: 0 });
  const finding = { submissionId: store.newId(), tenantId, quoted: null, nodeId } as const;
  await noteFinding(store.query, { ...finding, incarnation: 2, finding: 'key_taken' });
  expect(await end()).toBe('incomplete');
});

async function refuseWrites({ database }: Fixture, table: string): Promise<void> {
  await database.query(
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION refuse()`,
  );
}

test.each(['webhook_endpoints', 'deliveries', 'audit_log', 'recoveries'])(
  'a recovery does not begin if %s refuses it',
  async (table) => {
    const still = await createStill();
    await refuseWrites(still, table);
    await expect(begin(still)).rejects.toThrow('not now');
    expect(await readRecovery(still.store)).toBeNull();
  },
);

test.each(['submissions', 'audit_log', 'recoveries'])(
  'a recovery does not end if %s refuses it',
  async (table) => {
    const still = await createStill();
    await still.hold(still.tenantId);
    await begin(still);
    await refuseWrites(still, table);
    await expect(still.end()).rejects.toThrow('not now');
    expect((await readRecovery(still.store))?.endedAt).toBeNull();
  },
);

test('the first 1,000 open findings are shown, and all of them are counted', async () => {
  const still = await createStill();
  const { store, database, nodeId } = still;
  await begin(still);
  await database.query(
    `INSERT INTO recovery_findings (incarnation, submission_id, node_id, finding, reported_at)
     SELECT 2, ('00000000-0000-7000-8000-' || lpad((2000 - number)::text, 12, '0'))::uuid, $1, 'rejected',
       svc_now() FROM generate_series(1, 1001) number`,
    [nodeId],
  );
  await database.query('ALTER TABLE recovery_findings DROP CONSTRAINT recovery_findings_pkey');
  const { open, openCount } = (await readRecovery(store)) ?? {};
  const shown = open?.map(({ submissionId }) => Number(submissionId.slice(-12)));
  expect(shown).toEqual(Array.from({ length: 1_000 }, (_, index) => 999 + index));
  expect(openCount).toBe(1_001);
});
