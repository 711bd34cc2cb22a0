import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `pnpm growth [--months N]`: runs N months of traffic on a clock that the test moves. The last
 * line is the verdict.
 */
const { values } = parseArgs({ options: { months: { type: 'string', default: '12' } } });
const dir = mkdtempSync(path.join(tmpdir(), 'svc-growth-report-'));
const file = path.join(dir, 'report');
const { status } = spawnSync('vitest', ['run', path.join(import.meta.dirname, 'growth.test.ts')], {
  stdio: 'inherit',
  env: { ...process.env, GROWTH_MONTHS: values.months, GROWTH_REPORT: file },
});
const lines = readFileSync(file, 'utf8');
rmSync(dir, { recursive: true });
process.stdout.write(lines);
process.exitCode = status ?? 1;
