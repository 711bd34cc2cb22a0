import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { canFetchPackages, onPath } from './debian-packages.ts';
import { redisBinary } from './redis-binary.ts';
import { runCommand } from './run-command.ts';
import { StartError } from './start-error.ts';

const works = '#!/bin/sh\necho Redis server v=7.0.0\n';
const programFile = 'usr/bin/redis-server';

function temporaryDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-debian-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

function writeProgram(root: string, text: string): void {
  const file = path.join(root, programFile);
  mkdirSync(path.dirname(file), { recursive: true });
  mkdirSync(path.join(root, 'usr/lib'), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

/** Builds a package whose `redis-server` is `program`, or that has none. */
function buildPackage(dir: string, program: string | undefined): string {
  const root = path.join(dir, 'content');
  mkdirSync(path.join(root, 'DEBIAN'), { recursive: true });
  const control = [
    'Package: redis-server',
    'Version: 7',
    'Architecture: all',
    'Maintainer: a <a@b>',
  ];
  writeFileSync(path.join(root, 'DEBIAN/control'), `${control.join('\n')}\nDescription: a test\n`);
  if (program !== undefined) writeProgram(root, program);
  const file = path.join(dir, 'redis-server.deb');
  execFileSync('dpkg-deb', ['--build', root, file]);
  return file;
}

/**
 * Sets a PATH without a Redis. Its `apt-get` downloads `archive`. If `archive` is undefined,
 * `apt-get` succeeds without a download.
 */
function offer(dir: string, archive: string | undefined): void {
  const bin = path.join(dir, 'bin');
  mkdirSync(bin);
  for (const name of ['cp', 'dpkg-deb', 'rm', 'setpriv', 'sh', 'tar']) {
    const file = onPath(name);
    if (file !== undefined) symlinkSync(file, path.join(bin, name));
  }
  const copy = archive === undefined ? ':' : `cp ${archive} "\${word#*=}/"`;
  const script = `#!/bin/sh
for word in "$@"; do
  case "$word" in Dir::Cache::archives=*) ${copy} ;; esac
done
`;
  writeFileSync(path.join(bin, 'apt-get'), script);
  chmodSync(path.join(bin, 'apt-get'), 0o755);
  vi.stubEnv('PATH', bin);
  onTestFinished(() => void vi.unstubAllEnvs());
}

beforeEach(({ skip }) => skip(!canFetchPackages(), 'this machine has no packages of Debian'));

it.each([
  ['no package', undefined, false],
  ['a package without the program', undefined, true],
  ['an empty program', '', true],
  ['a program that fails', '#!/bin/sh\nexit 127\n', true],
] as const)('does not keep a fetch of %s', async (_, program, isPackaged) => {
  const dir = temporaryDir();
  offer(dir, isPackaged ? buildPackage(dir, program) : undefined);
  const cache = path.join(dir, 'cache');
  mkdirSync(cache);
  await expect(redisBinary(undefined, path.join(cache, 'redis'))).rejects.toThrow(StartError);
  expect(readdirSync(cache)).toEqual([]);
});

it.each([
  ['is empty', undefined],
  ['has an empty program', ''],
  ['has a program that fails', '#!/bin/sh\nexit 127\n'],
] as const)('fetches again if the kept directory %s', async (_, former) => {
  const dir = temporaryDir();
  offer(dir, buildPackage(dir, works));
  const kept = path.join(dir, 'cache/redis');
  mkdirSync(kept, { recursive: true });
  if (former !== undefined) writeProgram(kept, former);
  const onFetch = vi.fn<() => void>();
  const { file, env } = await redisBinary(onFetch, kept);
  expect(onFetch).toHaveBeenCalledOnce();
  expect(await runCommand([file], { env: { ...process.env, ...env } })).toContain('v=7.0.0');
  expect(readdirSync(path.dirname(kept))).toEqual(['redis']);
});

it('keeps programs that work', async () => {
  const dir = temporaryDir();
  offer(dir, undefined);
  const kept = path.join(dir, 'redis');
  writeProgram(kept, works);
  const onFetch = vi.fn<() => void>();
  await redisBinary(onFetch, kept);
  expect(onFetch).not.toHaveBeenCalled();
  expect(existsSync(path.join(kept, programFile))).toBe(true);
});
