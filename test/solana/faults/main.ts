import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** `pnpm solana:faults --runs N [--seed S]`: the fault run with N payments. */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const file = path.join(import.meta.dirname, 'faults.test.ts');
const { status } = spawnSync('vitest', ['run', '--testTimeout', '7200000', file], {
  stdio: 'inherit',
  env: { ...process.env, SOLANA_FAULTS_RUNS: values.runs, SOLANA_FAULTS_SEED: values.seed },
});
process.exitCode = status ?? 1;
