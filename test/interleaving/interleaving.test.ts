import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { bareEnvironment } from '@svc/testkit';
import { expect, inject, test } from 'vitest';

const main = path.join(import.meta.dirname, 'main.ts');
const runFile = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;

/** Runs the command as its users do, on the Postgres server of the tests. */
async function interleave(...args: string[]): Promise<string> {
  const { adminUrl, serviceUrl, template } = inject('testServers');
  const given = ['--postgres', adminUrl, '--service', serviceUrl, '--template', template];
  try {
    const { stdout } = await runFile(process.execPath, [main, ...args, ...given], {
      env: bareEnvironment(),
      maxBuffer: outputBytesMax,
    });
    return stdout;
  } catch (error) {
    // A violation is the exit code 1; what was printed says which.
    if (error instanceof Error && 'stdout' in error) return String(error.stdout);
    throw error;
  }
}

const seed = process.env['INTERLEAVE_SEED'] ?? `${Date.now() % 1_000_000}`;
const runs = 40;

test(`no order of events breaks a promise (INTERLEAVE_SEED=${seed})`, async () => {
  const output = await interleave('--runs', `${runs}`, '--seed', seed);
  expect(output).toMatch(
    new RegExp(`\\n${runs} runs, \\d+ steps, \\d+ runs a minute, 0 violations\\n$`),
  );
});

const replayedRuns = '4';
const replayedSeed = '21';

function hashesOf(output: string): string[] {
  return output.match(/^\d+ [0-9a-f]{16}$/gm) ?? [];
}

test('one seed gives one trace', async () => {
  const args = ['--runs', replayedRuns, '--seed', replayedSeed, '--hashes'];
  const first = hashesOf(await interleave(...args));
  expect(first).toHaveLength(Number(replayedRuns));
  expect(hashesOf(await interleave(...args))).toEqual(first);
});
