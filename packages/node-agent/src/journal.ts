import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FrameFromNodeOf } from '@svc/contracts';
import { lockDirectory } from './lock.ts';

export type Outcome = FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>;

/**
 * The state of a submission that survives a crash of the node. `assigned`: the node may ask to
 * begin it. `begun`: the node may have acted, and never begins it again. `ended`: its outcome is
 * not acknowledged.
 */
export type JournalEntry =
  | {
      readonly phase: 'assigned' | 'begun';
      readonly submissionId: string;
      readonly jobType: string;
      readonly payloadText: string;
    }
  | { readonly phase: 'ended'; readonly submissionId: string; readonly outcome: Outcome };

/** `taken`: another process has begun it. `missing`: no assignment is on disk. */
export type BeginClaim = 'claimed' | 'taken' | 'missing';

export interface Journal {
  /** The entries on disk when the journal was opened. */
  readonly found: readonly JournalEntry[];
  /** Replaces the entry of a submission. It is on disk when the promise resolves. */
  write(entry: Exclude<JournalEntry, { phase: 'begun' }>): Promise<void>;
  /**
   * Marks an assignment as begun. The mark is on disk when the promise resolves. Only one of all
   * processes that try gets `claimed`, even if the lock failed to keep them apart.
   */
  claimBegin(submissionId: string): Promise<BeginClaim>;
  remove(submissionId: string): Promise<void>;
  close(): Promise<void>;
}

const suffix = '.json';
const draftSuffix = '.draft';
/** When a submission begins, its assignment's file is renamed to this suffix. */
const begunSuffix = '.begun';
/** Ids come from the network and become file names. */
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

/**
 * Writes a draft, syncs it and renames it. After a crash either the old or the new entry exists.
 */
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
  const isBegun = file.endsWith(begunSuffix) && entry.phase === 'assigned';
  return isBegun ? { ...entry, phase: 'begun' } : entry;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Claims by renaming: only one process can rename a file, and the next one does not find it. */
async function claim(assigned: string, begun: string): Promise<BeginClaim> {
  if (await isThere(begun)) return 'taken';
  try {
    await rename(assigned, begun);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return (await isThere(begun)) ? 'taken' : 'missing';
  }
  await syncDirectory(path.dirname(begun));
  return 'claimed';
}

async function readEntries(directory: string): Promise<JournalEntry[]> {
  const names = await readdir(directory);
  const drafts = names.filter((name) => name.endsWith(draftSuffix));
  await Promise.all(drafts.map((name) => rm(path.join(directory, name), { force: true })));
  const read = async (end: string): Promise<JournalEntry[]> => {
    const files = names.filter((name) => name.endsWith(end)).toSorted();
    return await Promise.all(files.map((name) => readEntry(path.join(directory, name))));
  };
  const begun = await read(begunSuffix);
  // An outcome wins over a begun assignment, and that wins over an assignment.
  const entries = new Map(begun.map((entry) => [entry.submissionId, entry]));
  for (const entry of await read(suffix)) {
    const { submissionId, phase } = entry;
    if (phase === 'ended' || !entries.has(submissionId)) entries.set(submissionId, entry);
  }
  return [...entries.values()];
}

/**
 * Opens the node's journal: one file per submission. The files are private to the user, because
 * they contain personal data until the submission has ended. Throws `DirectoryInUse` if another
 * process has the journal open, and `CannotLock` if that cannot be determined.
 */
export async function openJournal(directory: string): Promise<Journal> {
  await mkdir(directory, { recursive: true, mode: privateDirectory });
  const unlock = await lockDirectory(directory);
  const fileOf = (submissionId: string): string => {
    if (!isJournalable(submissionId)) throw new Error('the id cannot be a file name');
    return path.join(directory, submissionId + suffix);
  };
  const begunFileOf = (submissionId: string): string =>
    fileOf(submissionId).slice(0, -suffix.length) + begunSuffix;
  return {
    found: await readEntries(directory),
    async write(entry) {
      const { submissionId } = entry;
      await replaceFile(fileOf(submissionId), JSON.stringify(entry));
      if (entry.phase === 'ended') await rm(begunFileOf(submissionId), { force: true });
    },
    claimBegin: (submissionId) => claim(fileOf(submissionId), begunFileOf(submissionId)),
    async remove(submissionId) {
      // Removes the outcome last, because a crash in between must not leave a begin without it.
      await rm(begunFileOf(submissionId), { force: true });
      await rm(fileOf(submissionId), { force: true });
      await syncDirectory(directory);
    },
    close: unlock,
  };
}
