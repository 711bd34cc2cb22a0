import { readdirSync, readFileSync } from 'node:fs';

export type Pids = Readonly<Record<string, readonly number[]>>;

export function sumByKind(pids: Pids, of: (pid: number) => number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([kind, some]) => [kind, some.reduce((sum, pid) => sum + of(pid), 0)]),
  );
}

export type Children = ReadonlyMap<number, readonly number[]>;

export function childrenByParent(): Children {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = Number(statFields(Number(entry))?.[1]);
    if (parent > 0) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  return children;
}

export function treeOf(pid: number, children: Children): number[] {
  return [pid, ...(children.get(pid) ?? []).flatMap((child) => treeOf(child, children))];
}

/**
 * The fields of `/proc/PID/stat`, from the third field (the process state) on. Undefined if there
 * is no such process.
 */
export function statFields(pid: number): string[] | undefined {
  if (!Number.isInteger(pid)) return undefined;
  return textOf(`/proc/${pid}/stat`)?.split(/\) /)[1]?.split(' ');
}

/**
 * The number after `name` in a file with lines like `VmRSS: 17 kB`. 0 if the file has no such line.
 * Also 0 if the file cannot be read, for example after its process has ended.
 */
export function fieldOf(file: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+([0-9]+)`, 'm').exec(textOf(file) ?? '');
  return Number(found?.[1] ?? 0);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
