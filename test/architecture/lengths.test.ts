import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Proves that oxlint enforces the limits of length in .oxlintrc.json. */

const checkoutDir = path.resolve(import.meta.dirname, '../..');

function lengthErrorsOf(file: string, source: string): string[] {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-lengths-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { rules, overrides }: object & { rules?: unknown; overrides?: unknown } = JSON.parse(
    readFileSync(path.join(checkoutDir, '.oxlintrc.json'), 'utf8'),
  );
  writeFileSync(path.join(dir, '.oxlintrc.json'), JSON.stringify({ rules, overrides }));
  writeFileSync(path.join(dir, file), source);
  const oxlint = path.join(checkoutDir, 'node_modules/.bin/oxlint');
  const { stdout } = spawnSync(oxlint, ['-f', 'unix', file], { cwd: dir, encoding: 'utf8' });
  return [...stdout.matchAll(/\(max-lines(?:-per-function)?\)/gu)].map(([rule]) => rule);
}

const statements = (count: number): string => '  work();\n'.repeat(count);
const ofLines = (count: number): string => `export function run() {\n${statements(count - 2)}}\n`;

test('a function has at most 100 lines of code', () => {
  expect(lengthErrorsOf('run.ts', ofLines(100))).toEqual([]);
  expect(lengthErrorsOf('run.ts', ofLines(101))).toEqual(['(max-lines-per-function)']);
});

test('a file has at most 400 lines of code', () => {
  const functions = ofLines(50).repeat(8);
  expect(lengthErrorsOf('run.ts', functions)).toEqual([]);
  expect(lengthErrorsOf('run.ts', `${functions}work();\n`)).toEqual(['(max-lines)']);
});

test('comments and blank lines do not count, and neither do the limits for tests', () => {
  const commented = ofLines(100).replace('work();', '// Why.\n\n  work();');
  expect(lengthErrorsOf('run.ts', commented)).toEqual([]);
  expect(lengthErrorsOf('run.test.ts', ofLines(450))).toEqual([]);
});
