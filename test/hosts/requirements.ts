import { spawnSync } from 'node:child_process';
import { runName } from './layout.ts';
import { closeNetwork } from './network.ts';

const programs = { ip: 'iproute2', iptables: 'iptables', setpriv: 'util-linux' } as const;

/** Returns the reason why this machine cannot run the trial. Undefined if it can. */
export function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces need Linux';
  if (process.getuid?.() !== 0) return 'the trial needs root to make network namespaces';
  const missing = Object.entries(programs)
    .filter(([program]) => spawnSync(program, ['--version']).error !== undefined)
    .map(([program, debianPackage]) => `${program} is missing (Debian package ${debianPackage})`);
  if (missing.length > 0) return missing.join('; ');
  return triedObstacle();
}

/**
 * Tries the commands that a run needs, because a container may forbid them. Returns the first
 * command that fails, and its error. Returns undefined if all commands succeed.
 */
function triedObstacle(): string | undefined {
  const namespace = `${runName(process.pid)}-try`;
  const steps = [
    ['ip', 'netns', 'add', namespace],
    ['ip', '-n', namespace, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1'],
    ['ip', 'netns', 'exec', namespace, 'iptables', '--append', 'INPUT', '--jump', 'DROP'],
  ];
  try {
    for (const [file = '', ...args] of steps) {
      const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' });
      if (status !== 0) return `\`${[file, ...args].join(' ')}\` fails: ${stderr.trim()}`;
    }
    return undefined;
  } finally {
    closeNetwork(process.pid);
  }
}
