import {
  dispatchGraceMs,
  leaseMs,
  quarantineMs,
  runLimitMs,
  startDeadlineMs,
  webhookAgeMaxMs,
} from '@svc/domain';
import { stopDatabaseClock, testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { commitRunning } from './assignments/begin.ts';
import { commitDispatched, loadForDispatch } from './assignments/dispatch.ts';
import { endUnnamed } from './assignments/lost-assignments.ts';
import { attemptClaimMs } from './deliveries/deliveries.ts';
import { cancelSubmission } from './endings/endings.ts';
import { rotateNodeSecret } from './nodes/changes.ts';
import { findNodeCredentials, findNodeSettings } from './nodes/credentials.ts';
import { findNode } from './nodes/nodes.ts';
import { findOverdue, unsettledGraceMs } from './reconciling/overdue.ts';
import {
  claimFor,
  createFixture,
  exhaustAged,
  type Fixture,
  newLinkEpoch,
} from './store.fixture.ts';
import { findTenantCredentials } from './tenants/credentials.ts';
import { rotateTenantSecret } from './tenants/secrets.ts';

interface Waiting {
  readonly deadlineMs: number;
  readonly ask: () => Promise<unknown>;
}

interface Case {
  readonly what: string;
  /** Writes a row with a deadline, while the database's clock stands at `nowMs`. */
  readonly begin: (fixture: Fixture, nowMs: number) => Promise<Waiting>;
  /** The answer of `ask` one millisecond before the deadline. */
  readonly before: unknown;
  /** The answer of `ask` at the deadline. */
  readonly at: unknown;
}

const url = 'https://hooks.example.com/svc';
const nowMs = Date.parse('2026-03-01T12:00:00.000Z');

async function overdueKinds({ store }: Fixture): Promise<string[]> {
  const { candidates } = await findOverdue(store, { after: null, limit: 10 });
  return candidates.map(({ kind }) => kind);
}

async function dispatchDeadlineOf({ database }: Fixture): Promise<number> {
  const [row] = await database.query<{ at: Date }>(
    'SELECT dispatch_deadline_at AS at FROM submissions',
  );
  return Number(row?.at);
}

async function assigned(
  { store, tenant, hold, node }: Fixture,
  options: { tier?: 'instant' } = {},
) {
  const { id: submissionId } = await hold(await tenant(), options);
  const nodeId = await node();
  await commitDispatched(store, { submissionId, nodeId });
  return { submissionId, nodeId };
}

async function notified({ store, tenant, hold }: Fixture): Promise<string> {
  const tenantId = await tenant(1_000, url);
  const { id: submissionId } = await hold(tenantId);
  await cancelSubmission(store, { submissionId, tenantId, by: 'tenant' });
  return tenantId;
}

async function lose({ store }: Fixture, nodeId: string, submissionIds: string[]): Promise<void> {
  const linkEpoch = await newLinkEpoch(store, nodeId);
  await endUnnamed(store, { nodeId, linkEpoch, submissionIds });
}

const cases: readonly Case[] = [
  {
    what: 'a submission is no longer offered at its dispatch deadline',
    async begin(fixture) {
      const { store, tenant, hold } = fixture;
      const { id } = await hold(await tenant());
      const ask = async () => (await loadForDispatch(store, [id])).length;
      return { deadlineMs: await dispatchDeadlineOf(fixture), ask };
    },
    before: 1,
    at: 0,
  },
  {
    what: 'a pending submission is overdue after its grace',
    async begin(fixture) {
      await fixture.hold(await fixture.tenant());
      const deadlineMs = (await dispatchDeadlineOf(fixture)) + dispatchGraceMs;
      return { deadlineMs, ask: () => overdueKinds(fixture) };
    },
    before: [],
    at: ['stale_pending'],
  },
  {
    what: 'an assignment that was not begun is overdue',
    async begin(fixture, now) {
      await assigned(fixture);
      return { deadlineMs: now + startDeadlineMs, ask: () => overdueKinds(fixture) };
    },
    before: [],
    at: ['not_started'],
  },
  {
    what: 'the lease of a run expires',
    async begin(fixture, now) {
      await commitRunning(fixture.store, await assigned(fixture));
      return { deadlineMs: now + leaseMs, ask: () => overdueKinds(fixture) };
    },
    before: [],
    at: ['lease_expired'],
  },
  {
    what: 'a run reaches the limit of its tier',
    async begin(fixture, now) {
      await commitRunning(fixture.store, await assigned(fixture, { tier: 'instant' }));
      await fixture.database.query(
        `UPDATE submissions SET lease_expires_at = run_deadline_at + interval '1 hour'`,
      );
      return { deadlineMs: now + runLimitMs.instant, ask: () => overdueKinds(fixture) };
    },
    before: [],
    at: ['run_limit'],
  },
  {
    what: 'a stored outcome is not settled within its grace',
    async begin(fixture, now) {
      const { nodeId, submissionId } = await assigned(fixture);
      await lose(fixture, nodeId, [submissionId]);
      return { deadlineMs: now + unsettledGraceMs, ask: () => overdueKinds(fixture) };
    },
    before: [],
    at: ['unsettled'],
  },
  {
    what: 'an unrecorded attempt is due again',
    async begin(fixture, now) {
      const tenantId = await notified(fixture);
      await claimFor(fixture.store, tenantId);
      const ask = async () => (await claimFor(fixture.store, tenantId)).length;
      return { deadlineMs: now + attemptClaimMs, ask };
    },
    before: 0,
    at: 1,
  },
  {
    what: 'a round of deliveries ends by its age',
    async begin(fixture, now) {
      await notified(fixture);
      return { deadlineMs: now + webhookAgeMaxMs, ask: () => exhaustAged(fixture.store) };
    },
    before: 0,
    at: 1,
  },
  {
    what: "a tenant's previous secret expires",
    async begin({ store, tenant }, now) {
      const tenantId = await tenant();
      const rotation = { tenantId, kind: 'hmac', secret: 'hsk_2', overlapMs: 60_000 } as const;
      await rotateTenantSecret(store, { ...rotation, force: false }, testAuthor);
      const ask = async () => (await findTenantCredentials(store, tenantId))?.hmacSecrets.length;
      return { deadlineMs: now + 60_000, ask };
    },
    before: 2,
    at: 1,
  },
  {
    what: "a node's previous secret expires",
    async begin({ store, node }, now) {
      const nodeId = await node();
      const rotation = { nodeId, secret: 'nsk_2', overlapMs: 60_000, force: false };
      await rotateNodeSecret(store, rotation, testAuthor);
      const ask = async () => [
        (await findNodeCredentials(store, nodeId))?.secrets.length,
        (await findNode(store, nodeId))?.previousSecretExpiresAt !== null,
      ];
      return { deadlineMs: now + 60_000, ask };
    },
    before: [2, true],
    at: [1, false],
  },
  {
    what: 'a quarantine ends',
    async begin(fixture, now) {
      const { store, tenant, hold, node } = fixture;
      const nodeId = await node();
      const tenantId = await tenant();
      const held = [await hold(tenantId), await hold(tenantId), await hold(tenantId)];
      for (const { id } of held) await commitDispatched(store, { submissionId: id, nodeId });
      await lose(
        fixture,
        nodeId,
        held.map(({ id }) => id),
      );
      const ask = async () => [
        (await findNode(store, nodeId))?.quarantinedUntil !== null,
        (await findNodeSettings(store, nodeId))?.quarantinedUntil !== null,
      ];
      return { deadlineMs: now + (quarantineMs[0] ?? 0), ask };
    },
    before: [true, true],
    at: [false, false],
  },
];

test.each(cases)('at its deadline, and not before it: $what', async ({ begin, before, at }) => {
  const fixture = await createFixture();
  const stopAt = (ms: number) => stopDatabaseClock(fixture.database.databaseUrl, new Date(ms));
  await stopAt(nowMs);
  const { deadlineMs, ask } = await begin(fixture, nowMs);
  await stopAt(deadlineMs - 1);
  expect(await ask()).toEqual(before);
  await stopAt(deadlineMs);
  expect(await ask()).toEqual(at);
});

test('an accept is committed before the dispatch deadline, and refused at it', async () => {
  const fixture = await createFixture();
  const { store, tenant, hold, node, database } = fixture;
  const tenantId = await tenant();
  const nodeId = await node();
  const stopAt = (ms: number) => stopDatabaseClock(database.databaseUrl, new Date(ms));
  await stopAt(nowMs);
  const [one, other] = [await hold(tenantId), await hold(tenantId)];
  const deadlineMs = await dispatchDeadlineOf(fixture);
  await stopAt(deadlineMs - 1);
  const early = await commitDispatched(store, { submissionId: one.id, nodeId });
  await stopAt(deadlineMs);
  const late = await commitDispatched(store, { submissionId: other.id, nodeId });
  expect([early.kind, late.kind]).toEqual(['dispatched', 'not_pending']);
});
