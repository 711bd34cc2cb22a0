import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { pythonTools } from '../../support/python-tools.ts';

/**
 * `pnpm clients:python`: checks the Python client with mypy and ruff, and tests its wheel and its
 * source distribution. The last line is the verdict.
 */
const checkoutDir = path.resolve(import.meta.dirname, '../../..');
const clientDir = path.join(checkoutDir, 'clients/python');
const use = path.join(import.meta.dirname, 'use.py');
const failed: string[] = [];

function step(name: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const [program = '', ...words] = command;
  const { status } = spawnSync(program, words, {
    cwd: clientDir,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  process.stdout.write(`${name}: ${status === 0 ? 'succeeded' : 'failed'}\n`);
  if (status !== 0) failed.push(name);
}

function installed(dir: string, name: string, file: string): string {
  const python = path.join(dir, name, 'bin/python');
  execFileSync(process.env['PYTHON'] ?? 'python3', ['-m', 'venv', path.join(dir, name)]);
  step(`${name}: install`, [python, '-m', 'pip', 'install', '--quiet', file]);
  return python;
}

function check(program: (file: string) => string): void {
  step('mypy --strict', [program('mypy'), '--strict', 'src']);
  step('ruff check', [program('ruff'), 'check', '--no-cache', '.']);
  step('ruff format', [program('ruff'), 'format', '--no-cache', '--check', '.']);
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-python-'));
  try {
    step('build', [program('python'), '-m', 'build', '--outdir', dir, '.']);
    const built = (suffix: string) =>
      path.join(dir, readdirSync(dir).find((name) => name.endsWith(suffix)) ?? '');
    const wheel = installed(dir, 'wheel', `${built('.whl')}[async]`);
    const source = installed(dir, 'source', built('.tar.gz'));
    step('source: use', [source, use]);
    step('wheel: use', [wheel, use]);
    step('wheel: types', [program('mypy'), '--strict', '--python-executable', wheel, use]);
    const vitest = path.join(checkoutDir, 'node_modules/.bin/vitest');
    const table = ['--root', checkoutDir, 'test/clients/clients.test.ts', '-t', 'Python'];
    step('wheel: table of behaviours', [vitest, 'run', ...table], {
      PYTHON: wheel,
      CLIENT_PYTHON_INSTALLED: '1',
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const tools = pythonTools('client-python', [
  'mypy==1.19.1',
  'ruff==0.17.6',
  'build==1.6.1',
  'httpx',
]);
if ('missing' in tools) {
  process.stdout.write(`${tools.missing}\n`);
  failed.push('Python');
} else check(tools.program);
process.stdout.write(
  failed.length === 0
    ? 'clients:python: mypy, ruff, wheel and source distribution: PASSED\n'
    : `clients:python: ${failed.join(', ')}: FAILED\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
