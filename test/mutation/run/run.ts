import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import { filesOf } from '../generate.ts';
import type { Mutant } from '../mutant.ts';
import { nearestFirst, reaches } from '../order.ts';
import type { Room } from '../rooms.ts';
import { type Baseline, openBaselineCache } from './baseline.ts';
import { judge, type Verdict } from './judge.ts';
import { noReach } from './reach.ts';
import { checkout } from './test-files.ts';
import { judgeTogether } from './together.ts';
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
  /**
   * The most tests of a file in another folder that a mutant passes before the next file. Null: no
   * limit.
   */
  readonly passesMax: number | null;
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
/** Fewer mutants of one file are judged alone, because that needs no second run of a test. */
const togetherMin = 3;

type Baselines = Map<string, Promise<Baseline>>;

export async function judgeAll(tasks: readonly Task[], options: RunOptions): Promise<Judged[]> {
  const workers = Array.from({ length: options.workersCount }, () => createWorker(options.servers));
  const baselines: Baselines = new Map();
  const ensure = async (worker: Worker, testFile: string) => {
    const known = baselines.get(testFile) ?? baselineOf(worker, testFile, options);
    baselines.set(testFile, known);
    return known;
  };
  const judged: Judged[] = [];
  const note = (task: Task, verdict: Verdict, beganAt: number) => {
    const one = { ...task, verdict, durationMs: performance.now() - beganAt };
    judged.push(one);
    options.onJudged(one);
  };
  try {
    await eachOn(workers, groupsOf(tasks), async (worker, group) => {
      const take = (testFile: string) => ensure(worker, testFile);
      const rest = await judgeGroup(worker, group, { ...options, take, note });
      for (const task of rest.alone) {
        const beganAt = performance.now();
        note(task, await judgeAlone(worker, task, { ...options, take }), beganAt);
      }
      for (const task of rest.far) {
        const beganAt = performance.now();
        note(task, await judgeFar(worker, task, take), beganAt);
      }
    });
    return judged;
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

/** The tasks of each file. */
function groupsOf(tasks: readonly Task[]): Task[][] {
  return [...Map.groupBy(tasks, ({ room, mutant }) => `${room.name} ${mutant.file}`).values()];
}

interface GroupOptions extends RunOptions {
  readonly take: (testFile: string) => Promise<Baseline>;
  readonly note: (task: Task, verdict: Verdict, beganAt: number) => void;
}

/**
 * Judges the mutants of one file by the near tests. Returns those that must be judged alone, and
 * those that need the far tests.
 */
async function judgeGroup(
  worker: Worker,
  group: readonly Task[],
  { testFiles: given, take, note, nearOnly, passesMax }: GroupOptions,
): Promise<{ readonly alone: readonly Task[]; readonly far: readonly Task[] }> {
  const [first] = group;
  if (first === undefined || group.length < togetherMin) return { alone: group, far: [] };
  const tasks = new Map(group.map((task) => [task.mutant.id, task]));
  const near = filesOf(checkout, given.length > 0 ? given : first.room.near);
  const mutants = group.map(({ mutant }) => mutant);
  let beganAt = performance.now();
  const far: Task[] = [];
  const alone = await judgeTogether(worker, {
    mutants,
    testFiles: nearestFirst(mutants, near, textOf),
    take,
    passesMax,
    onJudged({ id }, verdict) {
      const task = tasks.get(id);
      if (task === undefined) return;
      if (verdict.kind === 'survived' && !nearOnly && given.length === 0) far.push(task);
      else note(task, verdict, beganAt);
      beganAt = performance.now();
    },
  });
  return { alone: alone.flatMap(({ id }) => tasks.get(id) ?? []), far };
}

async function judgeAlone(
  worker: Worker,
  { room, mutant }: Task,
  { testFiles: given, take, nearOnly }: RunOptions & Pick<GroupOptions, 'take'>,
): Promise<Verdict> {
  const near = filesOf(checkout, given.length > 0 ? given : room.near);
  const verdict = await judgeBy(worker, mutant, { testFiles: near, msMax: nearMsMax, take });
  if (verdict.kind !== 'survived' || nearOnly || given.length > 0) return verdict;
  return judgeFar(worker, { room, mutant }, take);
}

function judgeFar(
  worker: Worker,
  { room, mutant }: Task,
  take: GroupOptions['take'],
): Promise<Verdict> {
  const testFiles = filesOf(checkout, room.far);
  return judgeBy(worker, mutant, { testFiles, msMax: farMsMax, take });
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
    return { testFile, passed: false, durationMs: baselineMsMax, reach: noReach };
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
  for (const testFile of nearestFirst([mutant], testFiles, textOf)) {
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
