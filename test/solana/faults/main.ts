import path from 'node:path';
import { parseArgs } from 'node:util';
import { runReported } from '../../support/reported-run.ts';

/**
 * `pnpm solana:faults [--runs N] [--seed S]`: sends at least N payments (default 1,000) under
 * faults. The last line is the verdict.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const file = path.join(import.meta.dirname, 'faults.test.ts');
const { status, report } = runReported(file, 'SOLANA_FAULTS_REPORT', {
  words: ['--testTimeout', '7200000'],
  env: { SOLANA_FAULTS_RUNS: values.runs, SOLANA_FAULTS_SEED: values.seed },
});
const verdict = report === '' ? 'the run ended without a verdict' : report;
process.stdout.write(`solana:faults: ${verdict}${status === 0 ? '' : ': FAILED'}\n`);
process.exitCode = status;
