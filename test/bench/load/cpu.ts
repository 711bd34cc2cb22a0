import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of the kernel per second. Linux has this value on every platform. */
const ticksPerSecond = 100;

export type Pids = Readonly<Record<string, readonly number[]>>;

/** CPU seconds so far of the processes of each kind, including their children. */
export function cpuSeconds(pids: Pids): Record<string, number> {
  const children = childrenByParent();
  return mapSums(pids, (pid) => treeTicks(pid, children) / ticksPerSecond);
}

function mapSums(pids: Pids, of: (pid: number) => number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, some]) => [name, some.reduce((sum, pid) => sum + of(pid), 0)]),
  );
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = statOf(Number(entry))?.parent;
    if (parent !== undefined)
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  return children;
}

/** Includes children that have ended, because their parent has waited for them. */
function treeTicks(pid: number, children: ReadonlyMap<number, readonly number[]>): number {
  const below = (children.get(pid) ?? []).map((child) => treeTicks(child, children));
  return below.reduce((sum, ticks) => sum + ticks, statOf(pid)?.ticks ?? 0);
}

function statOf(pid: number): { parent: number; ticks: number } | undefined {
  if (!Number.isInteger(pid)) return undefined;
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
    const fields = rest.split(' ').map(Number);
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + (fields[field] ?? 0), 0);
    return { parent: fields[1] ?? 0, ticks };
  } catch {
    return undefined;
  }
}

/**
 * The memory of each kind of process, in MiB: the peak of each service and of Redis, and the
 * current use of Postgres with shared pages counted once.
 */
export function memoryMib(pids: Pids): Record<string, number> {
  const { postgres = [], ...others } = pids;
  const children = childrenByParent();
  return {
    ...mapSums(others, (pid) => kibOf(`/proc/${pid}/status`, 'VmHWM') / 1_024),
    ...mapSums({ postgres }, (pid) => treePssKib(pid, children) / 1_024),
  };
}

/** The current use, in MiB. */
export function residentMib(pid: number): number {
  return kibOf(`/proc/${pid}/status`, 'VmRSS') / 1_024;
}

function treePssKib(pid: number, children: ReadonlyMap<number, readonly number[]>): number {
  const below = (children.get(pid) ?? []).map((child) => treePssKib(child, children));
  return below.reduce((sum, kib) => sum + kib, kibOf(`/proc/${pid}/smaps_rollup`, 'Pss'));
}

/** A process that has ended uses none. */
function kibOf(file: string, field: string): number {
  try {
    return Number(
      new RegExp(`^${field}:\\s+([0-9]+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1],
    );
  } catch {
    return 0;
  }
}
