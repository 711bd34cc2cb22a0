import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkoutDir } from './paths.ts';

let binDir: string;
beforeAll(() => {
  binDir = mkdtempSync(path.join(tmpdir(), 'svc-bootstrap-'));
});
afterAll(() => rmSync(binDir, { recursive: true, force: true }));

function bootstrap(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync('sh', ['infra/local/bootstrap.sh', ...words], {
    cwd: checkoutDir,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${binDir}:${process.env['PATH']}` },
  });
}

function replaceProgram(program: string, script: string): void {
  const file = path.join(binDir, program);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

it('runs a command with Node 24 first on the PATH', () => {
  const { status, stdout } = bootstrap('run', 'node', '--version');
  expect([status, stdout.trimEnd().split('\n').at(-1)]).toStrictEqual([0, process.version]);
});

it('exits with the exit code of the command', () => {
  expect(bootstrap('run', 'sh', '-c', 'exit 7').status).toBe(7);
});

it('lists the valid tasks for an unknown one', () => {
  const { status, stderr } = bootstrap('deploy');
  expect(status).toBe(1);
  expect(stderr).toContain('There is no task deploy.\nThe tasks are start, test, check and run.');
});

it('says what to do if Node is too old', () => {
  replaceProgram('node', 'echo v18.20.4');
  const { status, stderr } = bootstrap('start');
  expect(status).toBe(1);
  expect(stderr).toContain('Node.js v18.20.4 is too old.\nInstall Node.js 20 or newer');
});
