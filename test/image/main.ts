import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { dieWithParent } from '@svc/local';
import { type Checked, say } from './checks.ts';
import { obstacle } from './requirements.ts';

/**
 * `sh infra/docker/verify.sh [--keep]`: builds the image, and runs the compose file's services with
 * it (decision 47).
 */
const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });

/**
 * Leaves only cgroups of version 2 in the mount namespaces of `build.ts` and `run.ts`, because crun
 * refuses a host that mounts both versions.
 */
const cgroups = `
if [ -d /sys/fs/cgroup/unified ]; then
  umount --recursive /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
fi
`;
/**
 * Separates the networks of `run.ts` from those of this machine. podman keeps the addresses of all
 * networks below /run, and has no option for another directory.
 */
const emptyRun = 'mount -t tmpfs none /run';

const why = obstacle();
if (why === undefined) process.exitCode = await verify();
else say(`skipped: ${why}; 0 checks`);

async function verify(): Promise<number> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-image-'));
  for (const name of ['tmp', 'networks']) mkdirSync(path.join(dir, name));
  let part: ChildProcess | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void part?.kill('SIGKILL'));
  const checks: Checked[] = [];
  const run = async (file: string, namespaces: readonly string[], prepare: string) => {
    part = startPart(file, dir, namespaces, prepare);
    part.on('message', (message: Checked) => checks.push(message));
    await once(part, 'exit');
    if (part.exitCode !== 0) checks.push({ name: `${file} must exit with 0`, holds: false });
    return part.exitCode === 0;
  };
  try {
    // Only the build needs the network of this machine, so `run.ts` gets a network namespace.
    if (await run('build.ts', [], cgroups)) await run('run.ts', ['--net'], cgroups + emptyRun);
  } finally {
    if (values.keep) say(`kept: ${dir}`);
    else rmSync(dir, { recursive: true, force: true });
  }
  const broken = checks.filter(({ holds }) => !holds);
  for (const { name } of broken) say(`broken: ${name}`);
  say(
    `${broken.length === 0 ? 'held' : 'BROKEN'}: ${checks.length} checks, ${broken.length} broken`,
  );
  return broken.length === 0 ? 0 : 1;
}

/**
 * Starts the program `file` in new namespaces. When the program ends, the kernel ends all processes
 * in them.
 */
function startPart(
  file: string,
  dir: string,
  namespaces: readonly string[],
  prepare: string,
): ChildProcess {
  const unshare = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const shell = ['sh', '-ec', `${prepare}\nexec "$@"`, 'sh'];
  const part = [process.execPath, path.join(import.meta.dirname, file), dir];
  const [command = '', ...words] = [
    ...dieWithParent('KILL'),
    ...unshare,
    ...namespaces,
    ...shell,
    ...part,
  ];
  return spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true });
}
