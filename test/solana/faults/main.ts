import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `pnpm solana:faults [--runs N] [--seed S]`: sends at least N payments (default 1,000) under
 * faults. The last line is the verdict.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const dir = mkdtempSync(path.join(tmpdir(), 'svc-solana-report-'));
const report = path.join(dir, 'report');
const file = path.join(import.meta.dirname, 'faults.test.ts');
const { status } = spawnSync('vitest', ['run', '--testTimeout', '7200000', file], {
  stdio: 'inherit',
  env: {
    ...process.env,
    SOLANA_FAULTS_RUNS: values.runs,
    SOLANA_FAULTS_SEED: values.seed,
    SOLANA_FAULTS_REPORT: report,
  },
});
const verdict = existsSync(report)
  ? readFileSync(report, 'utf8')
  : 'the run ended without a verdict';
rmSync(dir, { recursive: true });
process.stdout.write(`solana:faults: ${verdict}${status === 0 ? '' : ': FAILED'}\n`);
process.exitCode = status ?? 1;
