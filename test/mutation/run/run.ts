import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import { filesOf } from '../generate.ts';
import type { Mutant } from '../mutant.ts';
import { nearestFirst } from '../order.ts';
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
  /** Only the nearest tests; what they miss survives. */
  readonly nearOnly: boolean;
  /** Instead of the room's tests. */
  readonly testFiles: readonly string[];
  readonly onBaseline: (baseline: Baseline) => void;
  readonly onJudged: (judged: Judged) => void;
}

const baselineMsMax = 300_000;
/** A slower test file is left out: it would cost more than all others together. */
const slowMs = 120_000;
/** How long the near tests and the far tests of one mutant may take together, by their baselines. */
const nearMsMax = 240_000;
const farMsMax = 120_000;

type Baselines = Map<string, Promise<Baseline>>;

/** Judges all mutants, on so many workers at once. */
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
    const rooms = [...new Set(tasks.map(({ room }) => room))];
    const near = given.length > 0 ? given : rooms.flatMap((room) => room.near);
    await eachOn(workers, filesOf(checkout, near), async (worker, testFile) => {
      await ensure(worker, testFile);
    });
    const judged: Judged[] = [];
    await eachOn(workers, tasks, async (worker, task) => {
      const { room, mutant } = task;
      const beganAt = performance.now();
      const nearGlobs = given.length > 0 ? given : room.near;
      const nearPlans = await plansFor(task, nearGlobs, (file) => ensure(worker, file));
      let verdict = await judge(worker, mutant, withinBound(nearPlans, nearMsMax));
      if (verdict.kind === 'survived' && !options.nearOnly && given.length === 0) {
        // Only now is it worth to know what the far tests do without a mutant.
        const farPlans = await plansFor(task, room.far, (file) => ensure(worker, file));
        verdict = await judge(worker, mutant, withinBound(farPlans, farMsMax));
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

/** Each worker takes the next item until none is left. */
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
    // The worker may still have the mutant of its last task.
    await worker.ask({ kind: 'mutate', change: undefined }, baselineMsMax);
    const answer = await worker.ask({ kind: 'baseline', testFile }, baselineMsMax);
    if (answer.kind !== 'baseline') throw new Error(`a worker answered ${answer.kind}`);
    const { end, reach } = answer;
    return { testFile, passed: end.kind === 'passed', durationMs: end.durationMs, reach };
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    const reach = { functions: [], statements: [] };
    return { testFile, passed: false, durationMs: baselineMsMax, reach };
  }
}

/** The tests that these globs name and that reach the mutant, the nearest first. */
async function plansFor(
  { mutant }: Task,
  globs: readonly string[],
  baselineOfFile: (testFile: string) => Promise<Baseline>,
): Promise<Baseline[]> {
  const known: Baseline[] = [];
  for (const file of filesOf(checkout, globs)) known.push(await baselineOfFile(file));
  const quick = known.filter(({ durationMs }) => durationMs <= slowMs);
  return nearestFirst(mutant, quick, (file) => readFileSync(path.join(checkout, file), 'utf8'));
}

/** Those of them that, taken in this order, take no longer than `msMax` together. */
function withinBound(baselines: readonly Baseline[], msMax: number): Baseline[] {
  let totalMs = 0;
  return baselines.filter(({ durationMs }) => {
    if (totalMs + durationMs > msMax) return false;
    totalMs += durationMs;
    return true;
  });
}
