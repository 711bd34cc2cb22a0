import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutant } from '../mutant.ts';
import { applyMutant } from '../mutant.ts';
import { mayBeTheMachine } from './plan.ts';
import { checkout, type FileEnd } from './test-files.ts';
import { type Worker, WorkerLost } from './workers.ts';

export type Verdict =
  /** `testFile` is empty if the database refused the mutant of a migration. */
  | { readonly kind: 'killed'; readonly by: string; readonly testFile: string }
  /** A test timed out, or its worker was lost. The mutant counts as killed. */
  | { readonly kind: 'timeout'; readonly by: string; readonly testFile: string }
  | { readonly kind: 'survived'; readonly testFilesCount: number }
  /** A failure that the machine may have caused instead of the mutant. */
  | { readonly kind: 'unclear'; readonly by: string }
  /** Only for a mutant of a migration: the final schema is the same as without the mutant. */
  | { readonly kind: 'same_schema' };

export interface TestPlan {
  readonly testFile: string;
  readonly durationMs: number;
}

const migrateMsMax = 60_000;
/** The time limit of a test file: this many times its duration without a mutant, plus `spareMs`. */
const slowFactorMax = 5;
const spareMs = 30_000;

/**
 * Runs the tests until one fails. If the machine may be the cause, the failure counts only if the
 * test passes without the mutant and fails again with the mutant.
 */
export async function judge(
  worker: Worker,
  mutant: Mutant,
  plans: readonly TestPlan[],
): Promise<Verdict> {
  const verdict = await judgeOnce(worker, mutant, plans);
  if (verdict.kind !== 'killed' && verdict.kind !== 'timeout') return verdict;
  if (!mayBeTheMachine.test(verdict.by)) return verdict;
  const plan = plans.find(({ testFile }) => testFile === verdict.testFile);
  if (plan === undefined) return { kind: 'unclear', by: verdict.by };
  const without = await runUnchanged(worker, plan);
  if (without.kind !== 'passed') return { kind: 'unclear', by: verdict.by };
  const again = await judgeOnce(worker, mutant, [plan]);
  return again.kind === 'survived' ? { kind: 'unclear', by: verdict.by } : again;
}

async function judgeOnce(
  worker: Worker,
  mutant: Mutant,
  plans: readonly TestPlan[],
): Promise<Verdict> {
  const source = readFileSync(path.join(checkout, mutant.file), 'utf8');
  const change = { file: mutant.file, text: applyMutant(source, mutant) };
  try {
    const mutated = await worker.ask({ kind: 'mutate', change }, migrateMsMax);
    if (mutated.kind === 'refused') return { kind: 'killed', by: mutated.reason, testFile: '' };
    if (mutated.kind !== 'mutated')
      throw new Error(
        `the answer of a worker to \`mutate\` has the unexpected kind \`${mutated.kind}\``,
      );
    if (mutated.outcome === 'same_schema') return { kind: 'same_schema' };
    for (const plan of plans) {
      const end = await runTest(worker, plan);
      const { testFile } = plan;
      const by = `${testFile}: ${end.failure}`;
      if (end.kind === 'failed') return { kind: 'killed', by, testFile };
      if (end.kind === 'timeout') return { kind: 'timeout', by, testFile };
    }
    return { kind: 'survived', testFilesCount: plans.length };
  } catch (error) {
    if (error instanceof WorkerLost) return { kind: 'unclear', by: error.message };
    throw error;
  }
}

type TestEnd = Pick<FileEnd, 'kind' | 'failure'>;

async function runTest(worker: Worker, { testFile, durationMs }: TestPlan): Promise<TestEnd> {
  try {
    const boundMs = durationMs * slowFactorMax + spareMs;
    const answer = await worker.ask({ kind: 'run', testFile }, boundMs);
    if (answer.kind !== 'run')
      throw new Error(
        `the answer of a worker to \`run\` has the unexpected kind \`${answer.kind}\``,
      );
    return answer.end;
  } catch (error) {
    if (error instanceof WorkerLost) return { kind: 'timeout', failure: error.message };
    throw error;
  }
}

async function runUnchanged(worker: Worker, plan: TestPlan): Promise<TestEnd> {
  try {
    await worker.ask({ kind: 'mutate', change: undefined }, migrateMsMax);
    return await runTest(worker, plan);
  } catch (error) {
    if (error instanceof WorkerLost) return { kind: 'timeout', failure: error.message };
    throw error;
  }
}
