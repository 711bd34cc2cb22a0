import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  hostOf,
  inside,
  type Layout,
  type NetworkHost,
  networkBits,
  pidOfNamespace,
} from './layout.ts';

/** This function is synchronous, because it also runs while this process exits. */
function run(command: readonly string[]): string {
  const [file = '', ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command.join(' ')}: ${error?.message ?? stderr.trim()} (status ${status})`);
  return stdout;
}

const ip = (...args: string[]) => run(['ip', ...args]);

/**
 * Makes the namespaces of all hosts, and a bridge that connects them. The network namespace of this
 * process gets no interface and no route.
 */
export function openNetwork({ bridge, hosts, watchAddress }: Layout): void {
  ip('netns', 'add', bridge);
  ip('-n', bridge, 'link', 'add', 'bridge0', 'type', 'bridge');
  ip('-n', bridge, 'link', 'set', 'bridge0', 'up');
  for (const [index, host] of hosts.entries()) plugIn(bridge, host, `port${index}`);
  const tenants = hostOf({ bridge, hosts, watchAddress }, 'tenants');
  addAddress(tenants, watchAddress);
}

function plugIn(bridge: string, host: NetworkHost, port: string): void {
  const { namespace } = host;
  ip('netns', 'add', namespace);
  const peer = ['peer', 'name', port, 'netns', bridge];
  ip('-n', namespace, 'link', 'add', 'eth0', 'type', 'veth', ...peer);
  ip('-n', bridge, 'link', 'set', port, 'master', 'bridge0', 'up');
  addAddress(host, host.address);
  for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
}

function addAddress({ namespace }: NetworkHost, address: string): void {
  ip('-n', namespace, 'address', 'add', `${address}/${networkBits}`, 'dev', 'eth0');
}

function namespaces(): string[] {
  return ip('netns', 'list')
    .split('\n')
    .flatMap((line) => line.split(' ')[0] || []);
}

/**
 * The time that the processes of a run get to end by themselves before they are killed. The servers
 * of a trial need less than 1 s.
 */
const graceMs = 5_000;
const lookEveryMs = 20;

/**
 * Removes the namespaces of a run, with their interfaces. Kills the processes that do not end by
 * themselves within `graceMs`.
 */
export function closeNetwork(pid: number): void {
  const untilMs = performance.now() + graceMs;
  for (const namespace of namespaces().filter((name) => pidOfNamespace(name) === pid)) {
    for (let pids = processesIn(namespace); pids.length > 0; pids = processesIn(namespace)) {
      if (performance.now() >= untilMs) for (const one of pids) kill(one);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookEveryMs);
    }
    ip('netns', 'delete', namespace);
  }
}

function processesIn(namespace: string): number[] {
  return ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/**
 * Removes the network namespaces that killed runs have left behind, and ends the processes in them.
 * Returns the process ids of these runs.
 */
export function removeStale(): number[] {
  const pids = new Set(namespaces().flatMap((name) => pidOfNamespace(name) ?? []));
  const stale = [...pids].filter((pid) => !isRun(pid));
  for (const pid of stale) closeNetwork(pid);
  return stale;
}

/** True if the process is a run of this program, and not another process with a reused id. */
function isRun(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8').includes('hosts/main.ts');
}

export interface Direction {
  readonly from: NetworkHost;
  readonly to: NetworkHost;
}

/** The receiver drops the packets, so the sender gets no error. */
export const dropPackets = (direction: Direction) => changeRule('--append', direction);
export const passPackets = (direction: Direction) => changeRule('--delete', direction);

function changeRule(change: '--append' | '--delete', { from, to }: Direction): void {
  const rule = ['--source', from.address, '--destination', to.address, '--jump', 'DROP'];
  run([...inside(to), 'iptables', '--wait', change, 'INPUT', ...rule]);
}
