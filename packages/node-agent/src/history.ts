import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Outcome } from './journal.ts';
import { syncDirectory } from './sync-directory.ts';

/**
 * A submission that the service assigned to this node. The entry stays after the outcome is
 * acknowledged.
 */
export interface HistoryEntry {
  readonly submissionId: string;
  /** The sealed proof of the assignment. Only the service can open it. */
  readonly receipt: string;
  /**
   * Undefined until the service has acknowledged the outcome. Stays undefined if the node stopped
   * the submission and sent `stopped` instead of an outcome.
   */
  readonly outcome?: Outcome;
  /** The time of the assignment: Unix time in milliseconds, by the clock of this machine. */
  readonly atMs: number;
}

/**
 * The submissions of the last 7 days, and perhaps older ones, to report in a recovery
 * (CONTRACT 7, "Recovery"). A rewrite of the file keeps at most `entriesMax` of them.
 */
export interface History {
  readonly entries: () => readonly HistoryEntry[];
  readonly entry: (submissionId: string) => HistoryEntry | undefined;
  /**
   * Adds a submission with its receipt. Resolves when both are on disk. `noHistory` stores nothing
   * and resolves at once.
   */
  assigned(submissionId: string, receipt: string): Promise<void>;
  /** Adds an outcome to the entry of its submission. Does nothing if there is no entry. */
  ended(outcome: Outcome): Promise<void>;
  close(): Promise<void>;
}

export const noHistory: History = {
  entries: () => [],
  entry: () => undefined,
  assigned: async () => {},
  ended: async () => {},
  close: async () => {},
};

const fileName = 'history.jsonl';
const privateFile = 0o600;
const historyMsMax = 7 * 24 * 3_600_000;
/** 20 slots with jobs of two minutes make fewer entries than this in 7 days. */
const entriesMax = 101_000;
/**
 * The most lines of the file. If the file has this many lines, the next change does not add a line,
 * but rewrites the file without old entries.
 */
const linesMax = 2 * entriesMax;

type Line = Omit<HistoryEntry, 'receipt'> & { readonly receipt?: string };

/**
 * Opens the history in the state directory, which the caller has locked. Rejects if the file exists
 * and cannot be read, or if it cannot be written.
 */
export async function openHistory(
  directory: string,
  nowMs: () => number = Date.now,
): Promise<History> {
  const file = path.join(directory, fileName);
  const entries = await readEntries(file);
  let handle = await rewrite(file, entries, nowMs());
  let lines = entries.size;
  const write = async (line: Line): Promise<void> => {
    lines += 1;
    if (lines > linesMax) {
      // If the rewrite fails, for example on a full disk, the old file stays open. The next call of
      // `write` then tries the rewrite again.
      const rewritten = await rewrite(file, entries, nowMs());
      await handle.close();
      handle = rewritten;
      lines = entries.size;
      return;
    }
    try {
      await handle.appendFile(`${JSON.stringify(line)}\n`);
      await handle.datasync();
    } catch (error) {
      // The file may now end with a part of the line, so the next change rewrites the file.
      lines = linesMax;
      throw error;
    }
  };
  let previous = Promise.resolve();
  /** Writes one line at a time. Several submissions may change the history at the same time. */
  const append = (line: Line): Promise<void> => {
    const written = previous.then(() => write(line));
    previous = written.catch(() => {});
    return written;
  };
  return {
    entries: () => [...entries.values()],
    entry: (submissionId) => entries.get(submissionId),
    async assigned(submissionId, receipt) {
      const entry = { submissionId, receipt, atMs: nowMs() };
      entries.set(submissionId, entry);
      await append(entry);
    },
    async ended(outcome) {
      const { submissionId } = outcome;
      const entry = entries.get(submissionId);
      if (entry === undefined) return;
      entries.set(submissionId, { ...entry, outcome });
      await append({ submissionId, outcome, atMs: entry.atMs });
    },
    async close() {
      await previous;
      await handle.close();
    },
  };
}

/**
 * Skips lines that cannot be parsed, because a crash may have cut the last one. Throws if the file
 * exists and cannot be read, because a rewrite would empty it.
 */
async function readEntries(file: string): Promise<Map<string, HistoryEntry>> {
  const entries = new Map<string, HistoryEntry>();
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  for (const part of text.split('\n')) {
    const line = parsed(part);
    if (line === undefined) continue;
    const receipt = line.receipt ?? entries.get(line.submissionId)?.receipt;
    if (receipt !== undefined) entries.set(line.submissionId, { ...line, receipt });
  }
  return entries;
}

function parsed(text: string): Line | undefined {
  try {
    const line: Line = JSON.parse(text);
    return line;
  } catch {
    return undefined;
  }
}

async function rewrite(
  file: string,
  entries: Map<string, HistoryEntry>,
  nowMs: number,
): Promise<FileHandle> {
  // The oldest entries come first. Drops those older than 7 days, then more until at most
  // `entriesMax` are left.
  for (const { submissionId, atMs } of entries.values())
    if (atMs < nowMs - historyMsMax || entries.size > entriesMax) entries.delete(submissionId);
  const draft = `${file}.new`;
  const handle = await open(draft, 'w', privateFile);
  try {
    await handle.writeFile([...entries.values()].map((one) => `${JSON.stringify(one)}\n`).join(''));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(path.dirname(file));
  return await open(file, 'a', privateFile);
}
