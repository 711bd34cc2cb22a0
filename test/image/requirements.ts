import { spawnSync } from 'node:child_process';

const programs = {
  buildah: 'buildah',
  podman: 'podman',
  crun: 'crun',
  mmdebstrap: 'mmdebstrap',
  '/usr/lib/podman/netavark': 'netavark',
  iptables: 'iptables',
  catatonit: 'catatonit',
  unshare: 'util-linux',
} as const;

/** Why this machine cannot build and run the image. Undefined if it can. */
export function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'containers need Linux';
  if (process.getuid?.() !== 0) return 'only root can mount the file systems of containers';
  const missing = Object.entries(programs).filter(
    ([program]) => spawnSync(program, ['--version']).error !== undefined,
  );
  if (missing.length === 0) return undefined;
  const packages = missing.map(([, name]) => name).join(' ');
  return `programs are missing; install them with: apt-get install --no-install-recommends ${packages}`;
}
