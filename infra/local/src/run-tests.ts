import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkoutDir } from './paths.ts';

/**
 * `npm test` runs all tests and the checks. The last line, `N passed, M failed`, counts each check
 * as a test. With arguments, the checks do not run, and vitest gets the arguments.
 */

const slowestShown = 10;

interface Tally {
  readonly passed: number;
  readonly failed: number;
}

interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
}

function print(part: Buffer): void {
  process.stdout.write(part);
}

async function run(
  file: string,
  args: readonly string[],
  onPart: (part: Buffer) => void = () => {},
): Promise<CommandEnd> {
  const child = spawn(file, args, { cwd: checkoutDir, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
    onPart(part);
  });
  await once(child, 'close');
  return { exitCode: child.exitCode ?? 1, output };
}

interface Checked extends Tally {
  readonly output: string;
}

const lowPriority = ['nice', '-n', '10'] as const;

async function runChecks(): Promise<Checked> {
  const [nice, ...words] = [...lowPriority, 'pnpm', 'run', '--silent', 'check', '--continue'];
  const { exitCode, output } = await run(nice, words);
  const [, successful = '0', total = '0'] = /(\d+) successful, (\d+) total/.exec(output) ?? [];
  const passed = Number(successful);
  const failed = Number(total) - passed;
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed), output };
}

async function runVitest(words: readonly string[]): Promise<Tally> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-tally-'));
  const file = path.join(dir, 'tally.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const { exitCode } = await run('vitest', ['run', ...reporters, ...words], print);
    const report = readReport(file);
    const passed = countIn(report, 'numPassedTests');
    const failed = countIn(report, 'numFailedTests');
    process.stdout.write(describeSlowest(report));
    // A run also fails if a file cannot be loaded, if an error occurs outside a test, or if no test
    // passes.
    const isFailed = exitCode !== 0 || passed === 0;
    return { passed, failed: isFailed ? Math.max(1, failed) : failed };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readReport(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

function describeSlowest(report: unknown): string {
  const files = memberOf(report, 'testResults');
  if (!Array.isArray(files) || files.length <= slowestShown) return '';
  const lines = files
    .map((file: unknown) => ({
      name: path.relative(checkoutDir, String(memberOf(file, 'name'))),
      seconds: (countIn(file, 'endTime') - countIn(file, 'startTime')) / 1000,
    }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, slowestShown)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}\n`);
  return `\nThe ${slowestShown} slowest files:\n${lines.join('')}`;
}

function memberOf(record: unknown, member: string): unknown {
  return new Map<string, unknown>(Object.entries(record ?? {})).get(member);
}

function countIn(record: unknown, member: string): number {
  const count = memberOf(record, member);
  return typeof count === 'number' ? count : 0;
}

const words = process.argv.slice(2);
const noChecks = { passed: 0, failed: 0, output: '' };
const [checks, tests] = await Promise.all([
  words.length > 0 ? noChecks : runChecks(),
  runVitest(words),
]);
process.stdout.write(`\n${checks.output}`);
const failed = checks.failed + tests.failed;
process.stdout.write(`\n${checks.passed + tests.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
