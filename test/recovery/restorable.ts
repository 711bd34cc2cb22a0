import { beginRecovery, commitDispatched, noteReported, type Store } from '@svc/store';
import { type Fixture, openFixture } from '@svc/store/fixture';
import { createTestDatabase, testAuthor, type TestDatabase } from '@svc/testkit';
import { onTestFinished } from 'vitest';

/** A database that a test backs up, loses and restores, as an operator does. */
export interface Restorable {
  /** Runs `work` on the database that will be lost. */
  live<Result>(work: (fixture: Fixture) => Promise<Result>): Promise<Result>;
  backUp(): Promise<void>;
  /** Restores the backup into a new database, and begins a recovery there. */
  restore(): Promise<Fixture>;
}

export async function createRestorable(): Promise<Restorable> {
  const open: TestDatabase[] = [];
  onTestFinished(async () => {
    for (const database of open) await database.close();
  });
  const kept = (database: TestDatabase): TestDatabase => {
    open.push(database);
    return database;
  };
  const original = kept(await createTestDatabase());
  let backup: TestDatabase | undefined;
  return {
    async live(work) {
      const fixture = await openFixture({ database: original });
      try {
        return await work(fixture);
      } finally {
        await fixture.store.close();
      }
    },
    async backUp() {
      backup = kept(await original.copy());
    },
    async restore() {
      if (backup === undefined) throw new Error('there is no backup');
      const database = await backup.copy();
      const fixture = await openFixture({ database });
      onTestFinished(() => fixture.close());
      // The restore takes some time, so every lost row is older than every new one.
      await fixture.advance(3_600_000);
      await beginRecovery(fixture.store, testAuthor);
      return fixture;
    },
  };
}

/** The part of an assignment that the node keeps. */
export interface Kept {
  readonly submissionId: string;
  readonly nodeId: string;
  readonly receipt: string;
  readonly isBegun: true;
  readonly instanceId: string;
}

export async function assign(
  { store, hold }: Fixture,
  { tenantId, nodeId, key }: { tenantId: string; nodeId: string; key: string },
): Promise<Kept> {
  const { id: submissionId } = await hold(tenantId, { key });
  const commit = await commitDispatched(store, { submissionId, nodeId });
  if (commit.kind !== 'dispatched') throw new Error(commit.kind);
  return { submissionId, nodeId, receipt: commit.receipt, isBegun: true, instanceId: 'i' };
}

export async function reportAll(store: Store, nodeIds: readonly string[]): Promise<void> {
  for (const nodeId of nodeIds) await noteReported(store, { nodeId, unreadable: 0 });
}
