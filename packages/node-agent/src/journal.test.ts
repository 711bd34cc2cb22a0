import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openJournal, type Journal, type JournalEntry } from './journal.ts';
import { DirectoryInUse } from './lock.ts';

/**
 * `done` lists the finished operations on files. `disk.killAfter(n)` simulates a kill: after `n`
 * operations, each further one fails.
 */
const { done, disk, nameOf, noting } = vi.hoisted(() => {
  const list: string[] = [];
  const limits = { killAfter: Number.POSITIVE_INFINITY };
  const alive = (): boolean => list.length < limits.killAfter;
  return {
    done: list,
    disk: {
      killAfter(operations: number): void {
        limits.killAfter = operations;
      },
      async operate<T>(what: string, operation: () => Promise<T>, half?: () => Promise<T>) {
        if (!alive()) {
          await half?.();
          throw new Error('killed');
        }
        const result = await operation();
        list.push(what);
        return result;
      },
    },
    nameOf: (file: unknown) => String(file).replace(/^.*\//, ''),
    noting: (handle: FileHandle, name: string) => {
      const [sync, writeFile] = [handle.sync.bind(handle), handle.writeFile.bind(handle)];
      handle.writeFile = async (data: string) => {
        // A killed process leaves only a part of the text on disk.
        const half = async () => await writeFile(data.slice(0, 40));
        await disk.operate(`wrote ${name}`, async () => await writeFile(data), half);
      };
      handle.sync = async () => await disk.operate(`synced ${name}`, sync);
      return handle;
    },
  };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...real,
    open: async (...given: Parameters<typeof real.open>) =>
      noting(await real.open(...given), nameOf(given[0])),
    rename: async (from: string, to: string) =>
      await disk.operate(
        `renamed ${nameOf(from)} to ${nameOf(to)}`,
        async () => await real.rename(from, to),
      ),
    rm: async (...given: Parameters<typeof real.rm>) =>
      await disk.operate(`removed ${nameOf(given[0])}`, async () => await real.rm(...given)),
  };
});

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const secretOfTheApplicant = 'canary-5f2c';
const assignment = {
  phase: 'assigned',
  submissionId,
  jobType: 'x',
  payloadText: JSON.stringify({ applicantProfile: secretOfTheApplicant }),
  maxNodeSeconds: 300,
} as const;
const outcome = { type: 'completed', submissionId, usage: {}, result: {} } as const;

let directory: string;
let journal: Journal;

beforeEach(async () => {
  directory = path.join(await mkdtemp(path.join(tmpdir(), 'svc-journal-')), 'state');
  journal = await openJournal(directory);
  onTestFinished(async () => {
    await journal.close();
    await rm(path.dirname(directory), { recursive: true, force: true });
  });
  done.length = 0;
  disk.killAfter(Number.POSITIVE_INFINITY);
});

async function foundAfterKill(): Promise<readonly JournalEntry[]> {
  await journal.close();
  disk.killAfter(Number.POSITIVE_INFINITY);
  journal = await openJournal(directory);
  return journal.found;
}

function textOnDisk(): string {
  const files = readdirSync(directory).filter((name) => name !== 'agent.lock');
  return files.map((name) => readFileSync(path.join(directory, name), 'utf8')).join('\n');
}

test('an entry is on disk before it has its name, and its name before the write resolves', async () => {
  await journal.write(assignment);
  expect(done).toEqual([
    `wrote ${submissionId}.json.draft`,
    `synced ${submissionId}.json.draft`,
    `renamed ${submissionId}.json.draft to ${submissionId}.json`,
    'synced state',
  ]);
});

test('a begin is on disk, and the payload is off it, before the begin is claimed', async () => {
  await journal.write(assignment);
  done.length = 0;
  expect(await journal.claimBegin(submissionId)).toBe('claimed');
  expect(done).toEqual([
    `renamed ${submissionId}.json to ${submissionId}.begun`,
    'synced state',
    `wrote ${submissionId}.begun.draft`,
    `synced ${submissionId}.begun.draft`,
    `renamed ${submissionId}.begun.draft to ${submissionId}.begun`,
    'synced state',
  ]);
  expect(textOnDisk()).not.toContain(secretOfTheApplicant);
});

test('a submit is on disk before its mark resolves', async () => {
  await journal.write(assignment);
  await journal.claimBegin(submissionId, true);
  done.length = 0;
  await journal.markSubmitting(submissionId);
  expect(done.slice(-2)).toEqual([
    `renamed ${submissionId}.begun.draft to ${submissionId}.begun`,
    'synced state',
  ]);
  expect(await foundAfterKill()).toEqual([{ phase: 'submitting', submissionId }]);
});

const begun = { phase: 'begun', submissionId, isFenced: true } as const;
const submitting = { phase: 'submitting', submissionId } as const;
const ended = { phase: 'ended', submissionId, outcome } as const;

const steps: readonly {
  readonly does: (on: Journal) => Promise<unknown>;
  readonly leaves: JournalEntry | undefined;
}[] = [
  { does: (on) => on.write(assignment), leaves: assignment },
  { does: (on) => on.claimBegin(submissionId, true), leaves: begun },
  { does: (on) => on.markSubmitting(submissionId), leaves: submitting },
  { does: (on) => on.write(ended), leaves: ended },
  { does: (on) => on.remove(submissionId), leaves: undefined },
];

test('a kill between any two operations leaves the entry before the step, or the one after it', async () => {
  let killAfter = 0;
  for (let wasKilled = true; wasKilled; killAfter += 1) {
    done.length = 0;
    disk.killAfter(killAfter);
    let before: JournalEntry | undefined;
    let after: JournalEntry | undefined;
    wasKilled = false;
    for (const { does, leaves } of steps) {
      [before, after] = [after, leaves];
      // The steps run one after another, because a killed process runs no further step.
      // oxlint-disable-next-line no-await-in-loop
      wasKilled = await does(journal).then(
        () => false,
        () => true,
      );
      if (wasKilled) break;
    }
    const [found] = await foundAfterKill();
    expect([before, after], `killed after: ${done.join(', ')}`).toContainEqual(found);
    const mayBeKept = found?.phase === 'assigned';
    expect(textOnDisk().includes(secretOfTheApplicant)).toBe(mayBeKept);
    await journal.remove(submissionId);
  }
  // The five steps have at least 20 operations. For each operation, one pass of the loop kills the
  // process before it. One more pass has no kill.
  expect(killAfter).toBeGreaterThan(20);
});

test('a begin whose payload could not be removed is not claimed, and had not started', async () => {
  await journal.write(assignment);
  done.length = 0;
  disk.killAfter(2);
  await expect(journal.claimBegin(submissionId, false)).rejects.toThrow('killed');
  expect(textOnDisk()).toContain(secretOfTheApplicant);
  expect(await foundAfterKill()).toEqual([begun]);
  expect(textOnDisk()).not.toContain(secretOfTheApplicant);
});

test('a journal of an older version opens, and what it has begun may have acted', async () => {
  await journal.close();
  const kept = { ...assignment, maxNodeSeconds: undefined };
  const other = 'sub_01kajh8z2wf5xav9c3q7m4n6rv';
  writeFileSync(path.join(directory, `${submissionId}.begun`), JSON.stringify(kept));
  writeFileSync(
    path.join(directory, `${other}.json`),
    JSON.stringify({ ...kept, submissionId: other, payloadText: '{}' }),
  );
  expect(await foundAfterKill()).toEqual([
    { ...begun, isFenced: false },
    { ...assignment, submissionId: other, payloadText: '{}' },
  ]);
  expect(textOnDisk()).not.toContain(secretOfTheApplicant);
  // A second opening of the same directory finds the same entry.
  expect(await foundAfterKill()).toContainEqual({ ...begun, isFenced: false });
});

test('an outcome is on disk before its begin is removed, and is itself removed last', async () => {
  await journal.write(assignment);
  await journal.claimBegin(submissionId);
  done.length = 0;
  await journal.write({ phase: 'ended', submissionId, outcome });
  expect(done.slice(-2)).toEqual(['synced state', `removed ${submissionId}.begun`]);
  done.length = 0;
  await journal.remove(submissionId);
  expect(done).toEqual([
    `removed ${submissionId}.begun`,
    `removed ${submissionId}.json`,
    'synced state',
  ]);
});

test('an agent that is refused the directory has no file left open', async () => {
  const before = readdirSync('/proc/self/fd').length;
  for (let n = 0; n < 5; n += 1)
    await expect(openJournal(directory)).rejects.toThrow(DirectoryInUse);
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 5);
});
