import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from '@svc/local';

/**
 * Runs commands of buildah and podman. Both programs keep their images and containers below the
 * `dir` of `openEngine`. Each command resolves with its output.
 */
export interface Engine {
  buildah(...words: string[]): Promise<string>;
  podman(...words: string[]): Promise<string>;
}

const buildMsMax = 900_000;
const runMsMax = 120_000;

export function openEngine(dir: string): Engine {
  const storage = [
    '--root',
    path.join(dir, 'storage'),
    '--runroot',
    path.join(dir, 'run'),
    '--storage-driver',
    'overlay',
  ];
  const podman = [
    'podman',
    ...storage,
    '--tmpdir',
    path.join(dir, 'tmp'),
    '--network-config-dir',
    path.join(dir, 'networks'),
    // podman must also run on machines without systemd, so it must not use systemd for cgroups or
    // events.
    '--cgroup-manager',
    'cgroupfs',
    '--events-backend',
    'none',
    '--runtime',
    'crun',
  ];
  const configuration = path.join(dir, 'containers.conf');
  // Without CAP_SYS_RESOURCE, a container cannot get higher limits than this process has.
  const limits = 'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]';
  writeFileSync(configuration, `[containers]\n${limits}\n`);
  const env = { ...process.env, CONTAINERS_CONF: configuration, TMPDIR: dir };
  const run = async (command: readonly string[], timeoutMs: number) => {
    const output = await runCommand(command, { env, timeoutMs });
    return output.trimEnd();
  };
  return {
    // With the isolation `chroot`, a build step needs neither cgroups nor a network namespace.
    buildah: (...words) =>
      run(['env', 'BUILDAH_ISOLATION=chroot', 'buildah', ...storage, ...words], buildMsMax),
    podman: (...words) => run([...podman, ...words], runMsMax),
  };
}
