import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * A line of a node's log, which reports one action. The line is written before the action
 * completes. Exception: `begun` is written after the action.
 */
export type NodeLine = StartedLine | DecidedLine | OutcomeLine | ExecutedLine;

interface StartedLine {
  readonly what: 'started';
  /** The submissions in the node's journal. */
  readonly active: readonly string[];
}

export interface DecidedLine {
  readonly what: 'assigned' | 'begun' | 'stopped';
  readonly submissionId: string;
}

export interface OutcomeLine {
  readonly what: 'ended' | 'acknowledged';
  readonly submissionId: string;
  readonly outcome: 'completed' | 'failed';
  readonly code: string | null;
}

/** Stands for one application that reaches the employer. `key` is its idempotency key. */
export interface ExecutedLine {
  readonly what: 'executed';
  readonly key: string;
}

export type Logged<Line> = Line & { readonly atMs: number; readonly node: string };

/** Writes each line at once, so a `kill -9` right after the write loses nothing. */
export function openNodeLog(file: string): (line: NodeLine) => void {
  const handle = openSync(file, 'a');
  return (line) => void writeSync(handle, `${JSON.stringify({ ...line, atMs: Date.now() })}\n`);
}

/** All lines of one node's log, oldest first. Empty if the node has no log file yet. */
export function readNodeLog(node: string, file: string): Logged<NodeLine>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line): Logged<NodeLine> => ({ ...JSON.parse(line), node }));
}

/** The submissions that a node still has to run or report, according to its log. */
export function activeRunsOf(lines: readonly NodeLine[]): ReadonlySet<string> {
  let active = new Set<string>();
  for (const line of lines) {
    if (line.what === 'started') active = new Set(line.active);
    else if (line.what === 'stopped' || line.what === 'acknowledged')
      active.delete(line.submissionId);
    else if (line.what !== 'executed') active.add(line.submissionId);
  }
  return active;
}
