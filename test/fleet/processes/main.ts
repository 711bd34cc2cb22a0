import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `pnpm fleet:processes [--runs N] [--seed S]`: runs `processes.test.ts` with N random sequences of
 * commands.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
});
const startedMs = performance.now();
const { status } = spawnSync(
  'vitest',
  ['run', '--disableConsoleIntercept', path.join(import.meta.dirname, 'processes.test.ts')],
  { stdio: 'inherit', env: { ...process.env, FLEET_RUNS: values.runs, FLEET_SEED: values.seed } },
);
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const verdict = status === 0 ? 'no violation' : 'FAILED';
process.stdout.write(`${values.runs} runs in ${seconds} s, seed ${values.seed}: ${verdict}\n`);
process.exitCode = status ?? 1;
