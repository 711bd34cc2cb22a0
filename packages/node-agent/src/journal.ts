import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FrameFromNodeOf } from '@svc/contracts';
import { runLimitMs } from '@svc/domain';
import { lockDirectory } from './lock.ts';
import { syncDirectory } from './sync-directory.ts';

export type Outcome = FrameFromNodeOf<'completed'> | FrameFromNodeOf<'failed'>;

/** The state of a submission on disk, which survives a crash of the node. */
export type JournalEntry =
  | AssignedEntry
  /** The node may have acted, and never begins the submission again. */
  | {
      readonly phase: 'begun';
      readonly submissionId: string;
      /**
       * True if it is certain that nothing is submitted in this phase: the executor has `isFenced`
       * (executor.ts), or the file shows that the run has not started (`readEntry`).
       */
      readonly isFenced: boolean;
    }
  /** The node may have submitted the application. */
  | { readonly phase: 'submitting'; readonly submissionId: string }
  /** The outcome is not acknowledged. */
  | { readonly phase: 'ended'; readonly submissionId: string; readonly outcome: Outcome };

/** The node may ask to begin the submission. */
interface AssignedEntry {
  readonly phase: 'assigned';
  readonly submissionId: string;
  readonly jobType: string;
  readonly payloadText: string;
  readonly maxNodeSeconds: number;
}

/** An entry as its file contains it. Agents of an older version kept no `maxNodeSeconds`. */
type StoredEntry =
  | Exclude<JournalEntry, AssignedEntry>
  | (Omit<AssignedEntry, 'maxNodeSeconds'> & { readonly maxNodeSeconds?: number });

/**
 * `claimed`: this call has begun the submission. `taken`: another process or an earlier call has
 * begun the submission. `missing`: no assignment is on disk.
 */
export type BeginClaim = 'claimed' | 'taken' | 'missing';

export interface Journal {
  /** The entries on disk when the journal was opened. */
  readonly found: readonly JournalEntry[];
  /**
   * Writes the entry of a submission, and replaces an earlier one. The entry is on disk when the
   * promise resolves.
   */
  write(entry: Extract<JournalEntry, { phase: 'assigned' | 'ended' }>): Promise<void>;
  /**
   * Replaces an assignment on disk with a `begun` entry, which has no payload. At most one process
   * gets `claimed`, and only after the `begun` entry is on disk.
   */
  claimBegin(submissionId: string, isFenced?: boolean): Promise<BeginClaim>;
  /** Marks a begun submission as `submitting`. The mark is on disk when the promise resolves. */
  markSubmitting(submissionId: string): Promise<void>;
  remove(submissionId: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * The value for an entry that an older agent wrote without `maxNodeSeconds`: the shortest run limit
 * of all tiers.
 */
const maxNodeSecondsDefault = Math.min(...Object.values(runLimitMs)) / 1_000;

const suffix = '.json';
const draftSuffix = '.draft';
/** When a submission begins, the file of its assignment gets this suffix. */
const begunSuffix = '.begun';
/** Matches the ids that are safe as file names. Ids come from the network. */
const safeId = /^sub_[0-9a-z]{1,40}$/;
const privateFile = 0o600;
const privateDirectory = 0o700;

export function isJournalable(submissionId: string): boolean {
  return safeId.test(submissionId);
}

/** Writes an entry to its file. After a crash, the file is as before or has the new entry. */
async function replaceEntry(file: string, entry: JournalEntry): Promise<void> {
  const draft = `${file}${draftSuffix}`;
  const handle = await open(draft, 'w', privateFile);
  try {
    await handle.writeFile(JSON.stringify(entry));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(path.dirname(file));
}

async function readEntry(file: string): Promise<JournalEntry> {
  const entry: StoredEntry = JSON.parse(await readFile(file, 'utf8'));
  if (entry.phase !== 'assigned') return entry;
  const { submissionId, maxNodeSeconds } = entry;
  if (!file.endsWith(begunSuffix)) {
    return { ...entry, maxNodeSeconds: maxNodeSeconds ?? maxNodeSecondsDefault };
  }
  // `claimBegin` has not replaced the entry of this file, so the run has not started. Exception: an
  // older agent, which wrote no `maxNodeSeconds`, may have started the run.
  const isFenced = maxNodeSeconds !== undefined;
  const begun: JournalEntry = { phase: 'begun', submissionId, isFenced };
  await replaceEntry(file, begun);
  return begun;
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

/**
 * Renames the file `assigned` to `begun`. Only one process can do that, so every other process gets
 * `taken`. `missing`: neither file exists.
 */
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
  // A submission can have two files. An outcome then wins over a begun file, and a begun file wins
  // over an assignment.
  const entries = new Map(begun.map((entry) => [entry.submissionId, entry]));
  for (const entry of await read(suffix)) {
    const { submissionId, phase } = entry;
    if (phase === 'ended' || !entries.has(submissionId)) entries.set(submissionId, entry);
  }
  return [...entries.values()];
}

/**
 * Opens the node's journal. Throws `DirectoryInUse` if the journal is open already, and
 * `CannotLock` or a system error if the directory cannot be locked.
 */
export async function openJournal(directory: string): Promise<Journal> {
  await mkdir(directory, { recursive: true, mode: privateDirectory });
  const unlock = await lockDirectory(directory);
  const fileOf = (submissionId: string): string => {
    if (!isJournalable(submissionId)) throw new Error('the submission id cannot be a file name');
    return path.join(directory, submissionId + suffix);
  };
  const begunFileOf = (submissionId: string): string =>
    fileOf(submissionId).slice(0, -suffix.length) + begunSuffix;
  return {
    found: await readEntries(directory),
    async write(entry) {
      const { submissionId } = entry;
      await replaceEntry(fileOf(submissionId), entry);
      if (entry.phase === 'ended') await rm(begunFileOf(submissionId), { force: true });
    },
    async claimBegin(submissionId, isFenced = false) {
      const begunFile = begunFileOf(submissionId);
      const claimed = await claim(fileOf(submissionId), begunFile);
      if (claimed === 'claimed') {
        await replaceEntry(begunFile, { phase: 'begun', submissionId, isFenced });
      }
      return claimed;
    },
    markSubmitting: (submissionId) =>
      replaceEntry(begunFileOf(submissionId), { phase: 'submitting', submissionId }),
    async remove(submissionId) {
      // Removes the file of the outcome last. Otherwise a crash between the two removals could
      // leave a begun entry without its outcome.
      await rm(begunFileOf(submissionId), { force: true });
      await rm(fileOf(submissionId), { force: true });
      await syncDirectory(directory);
    },
    close: unlock,
  };
}
