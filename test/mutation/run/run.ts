import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import { filesOf } from '../generate.ts';
import type { Mutant } from '../mutant.ts';
import { nearestFirst, reaches } from '../order.ts';
import type { Room } from '../rooms.ts';
import { type Baseline, openBaselineCache } from './baseline.ts';
import { judge, type Verdict } from './judge.ts';
import { checkout } from './test-files.ts';
import { createWorker, type Worker, WorkerLost } from './workers.ts';

export interface Task {
  readonly room: Room;
  readonly mutant: Mutant;
}

export interface Judged extends Task {
  readonly verdict: Verdict;
  readonly durationMs: number;
}

export interface RunOptions {
  readonly servers: TestServers;
  readonly workersCount: number;
  /**
   * True: runs only the near test files of the room (`Room.near`). A mutant that they do not kill
   * counts as survived.
   */
  readonly nearOnly: boolean;
  /** If not empty, these files are run in place of the room's tests. */
  readonly testFiles: readonly string[];
  readonly onBaseline: (baseline: Baseline) => void;
  readonly onJudged: (judged: Judged) => void;
}

const baselineMsMax = 300_000;
/**
 * The most time that a test file may take without a mutant. A slower file is not run for any
 * mutant, because it would take most of the time of all runs.
 */
const slowMs = 120_000;
/**
 * The limit for the `near` files of a room. It applies to the sum of their durations without a
 * mutant. A file that would exceed the limit is left out.
 */
const nearMsMax = 240_000;
const farMsMax = 120_000;

type Baselines = Map<string, Promise<Baseline>>;

export async function judgeAll(tasks: readonly Task[], options: RunOptions): Promise<Judged[]> {
  const workers = Array.from({ length: options.workersCount }, () => createWorker(options.servers));
  const baselines: Baselines = new Map();
  const ensure = async (worker: Worker, testFile: string) => {
    const known = baselines.get(testFile) ?? baselineOf(worker, testFile, options);
    baselines.set(testFile, known);
    return known;
  };
  try {
    const given = options.testFiles;
    const judged: Judged[] = [];
    await eachOn(workers, tasks, async (worker, task) => {
      const { room, mutant } = task;
      const beganAt = performance.now();
      const take = (testFile: string) => ensure(worker, testFile);
      const near = filesOf(checkout, given.length > 0 ? given : room.near);
      let verdict = await judgeBy(worker, mutant, { testFiles: near, msMax: nearMsMax, take });
      if (verdict.kind === 'survived' && !options.nearOnly && given.length === 0) {
        const far = filesOf(checkout, room.far);
        verdict = await judgeBy(worker, mutant, { testFiles: far, msMax: farMsMax, take });
      }
      const one = { ...task, verdict, durationMs: performance.now() - beganAt };
      judged.push(one);
      options.onJudged(one);
    });
    return judged;
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

async function eachOn<Item>(
  workers: readonly Worker[],
  items: readonly Item[],
  work: (worker: Worker, item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const takeNext = async (worker: Worker) => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift())
      await work(worker, item);
  };
  await Promise.all(workers.map(takeNext));
}

const cache = openBaselineCache();

async function baselineOf(
  worker: Worker,
  testFile: string,
  { onBaseline }: RunOptions,
): Promise<Baseline> {
  const known = cache.read(testFile);
  if (known !== undefined) return known;
  const baseline = await takeBaseline(worker, testFile);
  onBaseline(baseline);
  if (baseline.passed) cache.write(baseline);
  return baseline;
}

async function takeBaseline(worker: Worker, testFile: string): Promise<Baseline> {
  try {
    // Remove the mutant that the worker may still have.
    await worker.ask({ kind: 'mutate', change: undefined }, baselineMsMax);
    const answer = await worker.ask({ kind: 'baseline', testFile }, baselineMsMax);
    if (answer.kind !== 'baseline')
      throw new Error(
        `the answer of a worker to \`baseline\` has the unexpected kind \`${answer.kind}\``,
      );
    const { end, reach } = answer;
    return { testFile, passed: end.kind === 'passed', durationMs: end.durationMs, reach };
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    const reach = { functions: [], statements: [] };
    return { testFile, passed: false, durationMs: baselineMsMax, reach };
  }
}

function textOf(file: string): string {
  return readFileSync(path.join(checkout, file), 'utf8');
}

interface Candidates {
  readonly testFiles: readonly string[];
  readonly msMax: number;
  readonly take: (testFile: string) => Promise<Baseline>;
}

/**
 * Runs the nearest test files first. Leaves out a file that fails without the mutant, takes too
 * long or cannot notice the mutant.
 */
async function judgeBy(
  worker: Worker,
  mutant: Mutant,
  { testFiles, msMax, take }: Candidates,
): Promise<Verdict> {
  let totalMs = 0;
  let testFilesCount = 0;
  for (const testFile of nearestFirst(mutant, testFiles, textOf)) {
    const baseline = await take(testFile);
    const { passed, durationMs } = baseline;
    if (!passed || durationMs > slowMs || totalMs + durationMs > msMax) continue;
    if (!reaches(baseline, mutant)) continue;
    totalMs += durationMs;
    testFilesCount += 1;
    const verdict = await judge(worker, mutant, [baseline]);
    if (verdict.kind !== 'survived') return verdict;
  }
  return { kind: 'survived', testFilesCount };
}
