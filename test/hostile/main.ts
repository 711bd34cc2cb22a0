import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `pnpm hostile --submissions N`: one hostile node among three honest ones, with N submissions. N
 * must be a multiple of 20 (`chunks` in trial.ts).
 */
const { values } = parseArgs({ options: { submissions: { type: 'string', default: '2000' } } });
const startedMs = performance.now();
const { status } = spawnSync(
  'vitest',
  ['run', '--disableConsoleIntercept', path.join(import.meta.dirname, 'hostile.test.ts')],
  { stdio: 'inherit', env: { ...process.env, HOSTILE_SUBMISSIONS: values.submissions } },
);
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const verdict = status === 0 ? 'no violation' : 'FAILED';
process.stdout.write(`${values.submissions} submissions in ${seconds} s: ${verdict}\n`);
process.exitCode = status ?? 1;
