import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { pythonTools } from '../../support/python-tools.ts';
import { runAtLiveGateway } from '../live-gateway.ts';

/**
 * `pnpm openapi:schemathesis [--cases N] [--seed S]`: sends at least N requests to a live gateway,
 * unless a round fails. The OpenAPI document must describe each answer.
 */
const { values } = parseArgs({
  options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const casesWanted = Number(values.cases);
const seed = Number(values.seed);
/**
 * In one round, at most this many random requests for each operation are sent, and at most this
 * many sequences of requests.
 */
const examplesPerRound = Math.min(150, Math.max(2, Math.ceil(casesWanted / 100)));

const tools = pythonTools('schemathesis', ['schemathesis==4.32.5']);
if ('missing' in tools) {
  process.stdout.write(`openapi:schemathesis: ${tools.missing}\n`);
  process.exitCode = 1;
} else {
  let cases = 0;
  let failures = 0;
  let round = 0;
  while (cases < casesWanted && failures === 0) {
    const result = runRound(tools.program('schemathesis'), seed + round);
    cases += result.cases;
    failures += result.failures;
    round += 1;
  }
  const verdict = failures === 0 ? 'PASSED' : 'FAILED';
  process.stdout.write(
    `openapi:schemathesis: ${cases} cases in ${round} rounds from seed ${seed}, ${failures} failures: ${verdict}\n`,
  );
  process.exitCode = failures === 0 ? 0 : 1;
}

/**
 * Runs a round and counts the failures in its report. The count is 1 if Schemathesis wrote no
 * report, or if it failed but its report has no failure.
 */
function runRound(program: string, roundSeed: number): { cases: number; failures: number } {
  const dir = path.resolve(import.meta.dirname, '../../../.local/cache/schemathesis-report');
  const report = path.join(dir, 'report.json');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const words = [
    program,
    ['--config-file', path.join(import.meta.dirname, 'schemathesis.toml'), '--no-color'],
    ['run', '$SVC_URL/openapi.json', '--seed', `${roundSeed}`, '--warnings', 'off'],
    ['--max-examples', `${examplesPerRound}`, '--request-timeout', '30'],
    ['--report', 'json', '--report-json-path', report],
  ].flat();
  const script = `cd '${dir}' && exec "$0" ${words.slice(1).map(quoted).join(' ')}`;
  process.env['SCHEMATHESIS_HOOKS'] = path.join(import.meta.dirname, 'hooks.py');
  process.env['PYTHONDONTWRITEBYTECODE'] = '1';
  const succeeded = runAtLiveGateway(['sh', '-c', script, program]);
  if (!existsSync(report)) return { cases: 0, failures: 1 };
  const { test_cases: counts, errors } = JSON.parse(readFileSync(report, 'utf8'));
  const found = Number(counts.with_failures) + Number(counts.errored) + errors.length;
  return { cases: Number(counts.generated), failures: found === 0 && !succeeded ? 1 : found };
}

/** The word in double quotes. The shell still replaces variables in it. */
function quoted(word: string): string {
  return `"${word}"`;
}
