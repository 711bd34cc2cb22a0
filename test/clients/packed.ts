import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkoutDir = path.resolve(import.meta.dirname, '../..');
const clientDir = path.join(checkoutDir, 'packages/client');

/**
 * Packs the TypeScript client and unpacks it into `dir/node_modules`. Also copies driver.mjs into
 * `dir`. Returns the path of the packed file.
 */
export async function installPacked(dir: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const pnpm = path.join(checkoutDir, 'node_modules/.bin/pnpm');
  await run(pnpm, ['pack', '--pack-destination', dir], { cwd: clientDir, env });
  const [file] = readdirSync(dir).filter((name) => name.endsWith('.tgz'));
  if (file === undefined) throw new Error('pnpm pack wrote no .tgz file');
  const packed = path.join(dir, file);
  await run('tar', ['xzf', packed, '-C', dir]);
  const target = path.join(dir, 'node_modules/@svc');
  mkdirSync(target, { recursive: true });
  renameSync(path.join(dir, 'package'), path.join(target, 'client'));
  writeFileSync(path.join(dir, 'package.json'), '{"type":"module"}\n');
  cpSync(path.join(import.meta.dirname, 'driver.mjs'), path.join(dir, 'driver.mjs'));
  return packed;
}
