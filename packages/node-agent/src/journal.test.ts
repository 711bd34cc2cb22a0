import { readdirSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openJournal, type Journal } from './journal.ts';
import { DirectoryInUse } from './lock.ts';

/** The operations on files in their order, each with the name of its file. */
const { done, nameOf, noting } = vi.hoisted(() => {
  const list: string[] = [];
  return {
    done: list,
    nameOf: (file: unknown) => String(file).replace(/^.*\//, ''),
    noting: (handle: FileHandle, name: string) => {
      const [sync, writeFile] = [handle.sync.bind(handle), handle.writeFile.bind(handle)];
      handle.writeFile = async (...given) => {
        await writeFile(...given);
        list.push(`wrote ${name}`);
      };
      handle.sync = async () => {
        await sync();
        list.push(`synced ${name}`);
      };
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
    rename: async (from: string, to: string) => {
      await real.rename(from, to);
      done.push(`renamed ${nameOf(from)} to ${nameOf(to)}`);
    },
    rm: async (...given: Parameters<typeof real.rm>) => {
      await real.rm(...given);
      done.push(`removed ${nameOf(given[0])}`);
    },
  };
});

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const assignment = { phase: 'assigned', submissionId, jobType: 'x', payloadText: '{}' } as const;
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
});

test('an entry is on disk before it has its name, and its name before the write resolves', async () => {
  await journal.write(assignment);
  expect(done).toEqual([
    `wrote ${submissionId}.json.draft`,
    `synced ${submissionId}.json.draft`,
    `renamed ${submissionId}.json.draft to ${submissionId}.json`,
    'synced state',
  ]);
});

test('a begin is on disk before it is claimed', async () => {
  await journal.write(assignment);
  done.length = 0;
  expect(await journal.claimBegin(submissionId)).toBe('claimed');
  expect(done).toEqual([`renamed ${submissionId}.json to ${submissionId}.begun`, 'synced state']);
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
