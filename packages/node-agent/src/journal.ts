import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import type { FrameFromNodeOf } from '@svc/contracts';

import { lockDirectory } from './lock.ts';

export type Outcome = FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>;

/**
 * What the node remembers of a submission through a crash. `assigned`: not begun, it may ask to.
 * `begun`: it may have acted, and never begins again. `ended`: its outcome is not acknowledged.
 */
export type JournalEntry =
  | {
      readonly phase: 'assigned' | 'begun';
      readonly submissionId: string;
      readonly jobType: string;
      readonly payloadText: string;
    }
  | { readonly phase: 'ended'; readonly submissionId: string; readonly outcome: Outcome };

export interface Journal {
  /** What was found when it was opened. */
  readonly found: readonly JournalEntry[];
  /** Replaces the entry of a submission; on disk when it resolves. */
  write(entry: JournalEntry): Promise<void>;
  remove(submissionId: string): Promise<void>;
  close(): Promise<void>;
}

const suffix = '.json';
const draftSuffix = '.draft';
/** Ids come from outside and become names of files. */
const safeId = /^sub_[0-9a-z]{1,40}$/;
const privateFile = 0o600;
const privateDirectory = 0o700;

export function isJournalable(submissionId: string): boolean {
  return safeId.test(submissionId);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Written beside it, synced, renamed: after a crash there is the old entry or the new one. */
async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}${draftSuffix}`;
  const handle = await open(draft, 'w', privateFile);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(path.dirname(file));
}

async function readEntry(file: string): Promise<JournalEntry> {
  const entry: JournalEntry = JSON.parse(await readFile(file, 'utf8'));
  return entry;
}

async function readEntries(directory: string): Promise<JournalEntry[]> {
  const names = await readdir(directory);
  const drafts = names.filter((name) => name.endsWith(draftSuffix));
  await Promise.all(drafts.map((name) => rm(path.join(directory, name), { force: true })));
  const files = names.filter((name) => name.endsWith(suffix)).toSorted();
  return await Promise.all(files.map((name) => readEntry(path.join(directory, name))));
}

/**
 * Opens the node's memory: one file a submission, private to the user, as it holds personal data
 * until the submission has ended. Throws `DirectoryInUse` where another process has it open: two
 * would both begin what is assigned.
 */
export async function openJournal(directory: string): Promise<Journal> {
  await mkdir(directory, { recursive: true, mode: privateDirectory });
  const unlock = await lockDirectory(directory);
  const fileOf = (submissionId: string): string => {
    if (!isJournalable(submissionId)) throw new Error('not an id to name a file after');
    return path.join(directory, submissionId + suffix);
  };
  return {
    found: await readEntries(directory),
    async write(entry) {
      await replaceFile(fileOf(entry.submissionId), JSON.stringify(entry));
    },
    async remove(submissionId) {
      await rm(fileOf(submissionId), { force: true });
      await syncDirectory(directory);
    },
    close: unlock,
  };
}
