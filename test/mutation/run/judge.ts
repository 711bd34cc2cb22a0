import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutant } from '../mutant.ts';
import { applyMutant } from '../mutant.ts';
import { checkout } from './test-files.ts';
import { type Worker, WorkerLost } from './workers.ts';

export type Verdict =
  | { readonly kind: 'killed'; readonly by: string }
  /** A test did not end in time; it counts as killed. */
  | { readonly kind: 'timeout'; readonly by: string }
  | { readonly kind: 'survived'; readonly testFilesCount: number }
  /** Of a migration: the schema is the same in the end. */
  | { readonly kind: 'same_schema' };

export interface TestPlan {
  readonly testFile: string;
  readonly durationMs: number;
}

const migrateMsMax = 60_000;
/** A test file may take this much longer than it did without a mutant. */
const slowFactorMax = 5;
const spareMs = 30_000;

/** Runs the tests in this order against the mutant, until one fails. */
export async function judge(
  worker: Worker,
  mutant: Mutant,
  plans: readonly TestPlan[],
): Promise<Verdict> {
  const source = readFileSync(path.join(checkout, mutant.file), 'utf8');
  const change = { file: mutant.file, text: applyMutant(source, mutant) };
  try {
    const mutated = await worker.ask({ kind: 'mutate', change }, migrateMsMax);
    if (mutated.kind === 'refused') return { kind: 'killed', by: mutated.reason };
    if (mutated.kind !== 'mutated') throw new Error(`a worker answered ${mutated.kind}`);
    if (mutated.outcome === 'same_schema') return { kind: 'same_schema' };
    for (const { testFile, durationMs } of plans) {
      const boundMs = durationMs * slowFactorMax + spareMs;
      const answer = await worker.ask({ kind: 'run', testFile }, boundMs);
      if (answer.kind !== 'run') throw new Error(`a worker answered ${answer.kind}`);
      const { end } = answer;
      const by = `${testFile}: ${end.failure}`;
      if (end.kind !== 'passed') return { kind: end.kind === 'failed' ? 'killed' : 'timeout', by };
    }
    return { kind: 'survived', testFilesCount: plans.length };
  } catch (error) {
    if (error instanceof WorkerLost) return { kind: 'timeout', by: error.message };
    throw error;
  }
}
