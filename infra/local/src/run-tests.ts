import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkoutDir } from './paths.ts';

/**
 * What `npm test` runs: the checks (types, lint, format, boundaries, unused code) through
 * turborepo, which remembers those whose inputs have not changed, then every test. Its last line
 * is `N passed, M failed`, in which each check counts as a test. With words of its own it runs the
 * tests only, and hands the words to vitest.
 */

interface Tally {
  readonly passed: number;
  readonly failed: number;
}

interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
}

/** Runs a command, shows what it prints as it comes, and keeps it. */
async function run(file: string, args: readonly string[]): Promise<CommandEnd> {
  const child = spawn(file, args, { cwd: checkoutDir, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  await once(child, 'close');
  return { exitCode: child.exitCode ?? 1, output };
}

async function runChecks(): Promise<Tally> {
  const { exitCode, output } = await run('pnpm', ['run', '--silent', 'check', '--continue']);
  const [, successful = '0', total = '0'] = /(\d+) successful, (\d+) total/.exec(output) ?? [];
  const passed = Number(successful);
  const failed = Number(total) - passed;
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed) };
}

async function runVitest(words: readonly string[]): Promise<Tally> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-tally-'));
  const file = path.join(dir, 'tally.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const { exitCode } = await run('vitest', ['run', ...reporters, ...words]);
    const { passed, failed } = readTally(file);
    // A file that cannot be loaded and an error outside a test count as well, and so does nothing.
    const isFailed = exitCode !== 0 || passed === 0;
    return { passed, failed: isFailed ? Math.max(1, failed) : failed };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readTally(file: string): Tally {
  if (!existsSync(file)) return { passed: 0, failed: 0 };
  const report: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return { passed: countIn(report, 'numPassedTests'), failed: countIn(report, 'numFailedTests') };
}

function countIn(report: unknown, member: string): number {
  const count: unknown = new Map<string, unknown>(Object.entries(report ?? {})).get(member);
  return typeof count === 'number' ? count : 0;
}

const words = process.argv.slice(2);
const checks = words.length > 0 ? { passed: 0, failed: 0 } : await runChecks();
const tests = await runVitest(words);
const failed = checks.failed + tests.failed;
process.stdout.write(`\n${checks.passed + tests.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
