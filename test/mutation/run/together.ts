import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { switchedText } from '../generators/switched.ts';
import type { Mutant } from '../mutant.ts';
import type { Baseline } from './baseline.ts';
import type { Verdict } from './judge.ts';
import { isTimeout, type Plan, type PlanEntry } from './plan.ts';
import { functionKey } from './reach.ts';
import { checkout } from './test-files.ts';
import { type Worker, WorkerLost } from './workers.ts';

/** A worker that runs one test file for longer than this counts as lost. */
const runMsMax = 1_200_000;

export interface Together {
  /** The mutants of one file. */
  readonly mutants: readonly Mutant[];
  /** The test files, in the order in which they run. */
  readonly testFiles: readonly string[];
  readonly take: (testFile: string) => Promise<Baseline>;
  /**
   * The most tests of a file in another folder that a mutant passes before the next file. Null: no
   * limit.
   */
  readonly passesMax: number | null;
  readonly onJudged: (mutant: Mutant, verdict: Verdict) => void;
}

/**
 * Judges the mutants of one file together, by `switchedText` and `PlanRunner`. Calls `onJudged` for
 * each verdict, and returns the mutants that must be judged alone.
 */
export async function judgeTogether(worker: Worker, options: Together): Promise<Mutant[]> {
  const [file] = options.mutants.map((mutant) => mutant.file);
  if (file === undefined || !file.endsWith('.ts')) return [...options.mutants];
  const text = readFileSync(path.join(checkout, file), 'utf8');
  const switched = switchedText(file, text, options.mutants);
  const group = new Group(options, { file, text: switched.text });
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-plan-'));
  try {
    for (const mutant of options.mutants) {
      if (switched.ids.has(mutant.id)) group.alive.set(mutant.id, mutant);
      else group.alone.push(mutant);
    }
    for (const testFile of options.testFiles) {
      if (group.alive.size === 0) break;
      const baseline = await options.take(testFile);
      if (baseline.passed) await group.runFile(worker, baseline, dir);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return group.end();
}

class Group {
  readonly alive = new Map<string, Mutant>();
  readonly alone: Mutant[] = [];
  readonly #options: Together;
  readonly #change: { readonly file: string; readonly text: string };
  readonly #filesCounts = new Map<string, number>();
  readonly #runAtImport = new Set<string>();

  constructor(options: Together, change: { readonly file: string; readonly text: string }) {
    this.#options = options;
    this.#change = change;
  }

  /** Runs a test file for all mutants that are alive, again after each mutant that ended its process. */
  async runFile(worker: Worker, baseline: Baseline, dir: string): Promise<void> {
    const { testFile, reach } = baseline;
    // The tests of the mutated file itself are not limited: one of the last may kill.
    const isOwn = path.dirname(testFile) === path.dirname(this.#change.file);
    const passesMax = isOwn ? null : this.#options.passesMax;
    const entriesFile = path.join(dir, 'entries');
    const planFile = path.join(dir, 'plan.json');
    const done = new Set<string>();
    for (const key of reach.outside) this.#runAtImport.add(key);
    for (const id of this.#reachedBy(Object.values(reach.tests).flat()))
      this.#filesCounts.set(id, (this.#filesCounts.get(id) ?? 0) + 1);
    for (;;) {
      const tests = this.#testsLeft(reach.tests, done);
      if (Object.keys(tests).length === 0) return;
      writeFileSync(entriesFile, '');
      writeFileSync(planFile, JSON.stringify({ tests, passesMax, entriesFile } satisfies Plan));
      const isLost = await this.#run(worker, testFile, planFile);
      const entries = readFileSync(entriesFile, 'utf8').split('\n').filter(Boolean);
      const isWhole = this.#readEntries(
        entries.map((line): PlanEntry => JSON.parse(line)),
        { testFile, done, isLost },
      );
      if (isWhole) return;
    }
  }

  /** Judges the mutants that no test killed. Returns those that must be judged alone. */
  end(): Mutant[] {
    for (const mutant of this.alive.values()) {
      if (this.#runAtImport.has(functionKey(mutant.file, mutant.reach))) this.alone.push(mutant);
      else {
        const testFilesCount = this.#filesCounts.get(mutant.id) ?? 0;
        this.#options.onJudged(mutant, { kind: 'survived', testFilesCount });
      }
    }
    return this.alone;
  }

  async #run(worker: Worker, testFile: string, planFile: string): Promise<boolean> {
    try {
      await worker.ask({ kind: 'run_plan', testFile, change: this.#change, planFile }, runMsMax);
      return false;
    } catch (error) {
      if (error instanceof WorkerLost) return true;
      throw error;
    }
  }

  #reachedBy(functions: readonly string[]): string[] {
    const keys = new Set(functions);
    return [...this.alive.values()]
      .filter(({ file, reach }) => keys.has(functionKey(file, reach)))
      .map(({ id }) => id);
  }

  #testsLeft(tests: Baseline['reach']['tests'], done: ReadonlySet<string>): Plan['tests'] {
    const left = Object.entries(tests).map(([testId, functions]): [string, string[]] => [
      testId,
      this.#reachedBy(functions).filter((id) => !done.has(`${testId} ${id}`) && !done.has(testId)),
    ]);
    return Object.fromEntries(left.filter(([, ids]) => ids.length > 0));
  }

  /** False if the test file must run once more for the mutants that are left. */
  #readEntries(
    entries: readonly PlanEntry[],
    { testFile, done, isLost }: { testFile: string; done: Set<string>; isLost: boolean },
  ): boolean {
    let isWhole = !isLost;
    for (const entry of entries) {
      switch (entry.kind) {
        case 'began':
          break;
        case 'passed':
          done.add(`${entry.testId} ${entry.id}`);
          break;
        case 'failed': {
          const by = `${testFile}: ${entry.by}`;
          const kind = isTimeout.test(by) ? 'timeout' : 'killed';
          this.#settle(entry.id, { kind, by, testFile });
          break;
        }
        case 'unclear':
          done.add(`${entry.testId} ${entry.id}`);
          break;
        case 'spoiled':
          this.#setAside(entry.id);
          isWhole = false;
          break;
        case 'unusable':
          done.add(entry.testId);
          break;
      }
    }
    const last = entries.at(-1);
    if (!isLost) return isWhole;
    // The process ended: the mutant that was running may be the cause.
    if (last?.kind !== 'began') return true;
    this.#setAside(last.id);
    return false;
  }

  #settle(id: string, verdict: Verdict): void {
    const mutant = this.alive.get(id);
    if (mutant === undefined) return;
    this.alive.delete(id);
    this.#options.onJudged(mutant, verdict);
  }

  #setAside(id: string): void {
    const mutant = this.alive.get(id);
    if (mutant === undefined) return;
    this.alive.delete(id);
    this.alone.push(mutant);
  }
}
