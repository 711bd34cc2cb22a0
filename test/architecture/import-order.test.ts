import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Proves that oxfmt enforces the order of imports that .oxfmtrc.json sets. */

const checkoutDir = path.resolve(import.meta.dirname, '../..');

function isAccepted(source: string): boolean {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-imports-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  copyFileSync(path.join(checkoutDir, '.oxfmtrc.json'), path.join(dir, '.oxfmtrc.json'));
  writeFileSync(path.join(dir, 'a.ts'), source);
  const oxfmt = path.join(checkoutDir, 'node_modules/.bin/oxfmt');
  const { status, stderr } = spawnSync(oxfmt, ['--check', 'a.ts'], { cwd: dir, encoding: 'utf8' });
  expect(stderr).not.toContain('config');
  return status === 0;
}

const node = `import path from 'node:path';\n`;
const library = `import { expect } from 'vitest';\n`;
const ours = `import { run } from './run.ts';\n`;

test('imports are in the order Node, packages, own files', () => {
  expect(isAccepted(node + library + ours)).toBe(true);
});

test.each([
  ['a package before Node', library + node + ours],
  ['an own file before a package', node + ours + library],
  ['a blank line between imports', `${node}\n${library}${ours}`],
])('%s is refused', (_what, source) => {
  expect(isAccepted(source)).toBe(false);
});
