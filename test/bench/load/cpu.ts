import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of the kernel a second, as Linux has them everywhere. */
const ticksPerSecond = 100;

/** CPU seconds that each process and what it started have taken so far. */
export function cpuSeconds(pids: Readonly<Record<string, number>>): Record<string, number> {
  const children = childrenByParent();
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => [name, treeTicks(pid, children) / ticksPerSecond]),
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

/** Of those that have ended too: their parent has waited for them. */
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

/** The most memory that a process has had in use, MiB. */
export function memoryPeakMib(pid: number): number {
  try {
    const peak = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(peak ?? 0) / 1024);
  } catch {
    return 0;
  }
}
