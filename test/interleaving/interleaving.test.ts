import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { bareEnvironment } from '@svc/testkit';
import { afterAll, expect, inject, test } from 'vitest';
import { orderBugs } from './injected-bugs/catalogue.ts';

const main = path.join(import.meta.dirname, 'main.ts');
const runFile = promisify(execFile);
const outputBytesMax = 64 * 1024 * 1024;
/**
 * The directory of a cache of compiled modules, for the processes that this file starts. Without
 * the cache, each process would compile every module itself.
 */
const compileCache = mkdtempSync(path.join(os.tmpdir(), 'svc-interleaving-cache-'));

afterAll(() => rmSync(compileCache, { recursive: true, force: true }));

async function interleave(...args: string[]): Promise<string> {
  const { adminUrl, serviceUrl, template } = inject('testServers');
  const given = ['--postgres', adminUrl, '--service', serviceUrl, '--template', template];
  try {
    const { stdout } = await runFile(process.execPath, [main, ...args, ...given], {
      env: { ...bareEnvironment(), NODE_COMPILE_CACHE: compileCache },
      maxBuffer: outputBytesMax,
    });
    return stdout;
  } catch (error) {
    // After a violation the exit code is 1, so `runFile` rejects. The output names the violation.
    if (error instanceof Error && 'stdout' in error) return String(error.stdout);
    throw error;
  }
}

function verdict(runCount: number, violations: number): RegExp {
  const counts = `${runCount} runs, \\d+ steps, \\d+ runs a minute, ${violations} violations`;
  return new RegExp(`\\n${counts}( \\(seed \\d+\\))*\\n$`);
}

const seed = process.env['INTERLEAVE_SEED'] ?? `${Date.now() % 1_000_000}`;
const runs = 8;

test(`no order of events breaks a promise (INTERLEAVE_SEED=${seed})`, async () => {
  const output = await interleave('--runs', `${runs}`, '--seed', seed);
  expect(output).toMatch(verdict(runs, 0));
});

/**
 * The most seeds that are tried for one bug, beginning with its seed in the catalogue. After a
 * change of the product, that seed may no longer find the bug.
 */
const searchedRuns = 100;

test.each(orderBugs)('finds an injected bug: $what', async ({ name, seed: first, foundAs }) => {
  const search = ['--seed', `${first}`, '--runs', `${searchedRuns}`];
  const output = await interleave('--bug', name, ...search);
  expect(output).toMatch(foundAs);
});

function hashesOf(output: string): string[] {
  return output.match(/^\d+ [0-9a-f]{16}$/gm) ?? [];
}

test('without the bugs the same seeds find nothing, and each repeats its trace', async () => {
  const args = ['--catalogue', '--keep-going', '--hashes'];
  const output = await interleave(...args);
  expect(output).toMatch(verdict(orderBugs.length, 0));
  expect(hashesOf(output)).toHaveLength(orderBugs.length);
  expect(hashesOf(await interleave(...args))).toEqual(hashesOf(output));
});
