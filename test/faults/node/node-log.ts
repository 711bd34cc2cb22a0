import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * What a node under test did, written outside the service before it is done, by the kernel's
 * append: a kill -9 right after it takes nothing back. `executed` is what the employer sees.
 */
export type NodeLine = StartedLine | DecidedLine | OutcomeLine | ExecutedLine;

interface StartedLine {
  readonly what: 'started';
  /** What its journal held. */
  readonly inHand: readonly string[];
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

export interface ExecutedLine {
  readonly what: 'executed';
  readonly key: string;
}

export type Logged<Line> = Line & { readonly atMs: number; readonly node: string };

export function openNodeLog(file: string): (line: NodeLine) => void {
  const handle = openSync(file, 'a');
  return (line) => void writeSync(handle, `${JSON.stringify({ ...line, atMs: Date.now() })}\n`);
}

/** Everything in the log of one node, oldest first. */
export function readNodeLog(node: string, file: string): Logged<NodeLine>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line): Logged<NodeLine> => ({ ...JSON.parse(line), node }));
}

/** What one node still has to run or to report, by its log: none, where nothing is to come of it. */
export function inHandOf(lines: readonly NodeLine[]): ReadonlySet<string> {
  let inHand = new Set<string>();
  for (const line of lines) {
    if (line.what === 'started') inHand = new Set(line.inHand);
    else if (line.what === 'stopped' || line.what === 'acknowledged')
      inHand.delete(line.submissionId);
    else if (line.what !== 'executed') inHand.add(line.submissionId);
  }
  return inHand;
}
