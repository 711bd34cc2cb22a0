import {
  childrenByParent,
  fieldOf,
  type Pids,
  statFields,
  sumByKind,
  treeOf,
} from './processes.ts';

/** The clock ticks per second in `/proc`. Linux has this value on x86-64 and on arm64. */
const ticksPerSecond = 100;
/**
 * The indices of the CPU times in `statFields`: user and system time of the process, then user and
 * system time of its ended children.
 */
const tickFields = [11, 12, 13, 14];

/** The CPU seconds that the processes of each kind and their children have used so far. */
export function cpuSeconds(pids: Pids): Record<string, number> {
  const children = childrenByParent();
  return sumByKind(pids, (root) => {
    const ticks = treeOf(root, children).reduce((sum, pid) => sum + ticksOf(pid), 0);
    return ticks / ticksPerSecond;
  });
}

/**
 * The memory by kind of process. For Postgres, it is the current use, with shared pages counted
 * once. For each other kind, it is the sum of the peaks of its processes.
 */
export function memoryMib(pids: Pids): Record<string, number> {
  const { postgres = [], ...others } = pids;
  const children = childrenByParent();
  return {
    ...sumByKind(others, (pid) => fieldOf(`/proc/${pid}/status`, 'VmHWM') / 1_024),
    ...sumByKind(
      { postgres },
      (root) => treeOf(root, children).reduce((sum, pid) => sum + pssKib(pid), 0) / 1_024,
    ),
  };
}

function ticksOf(pid: number): number {
  const fields = statFields(pid) ?? [];
  return tickFields.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
}

function pssKib(pid: number): number {
  return fieldOf(`/proc/${pid}/smaps_rollup`, 'Pss');
}

export function residentMib(pid: number): number {
  return fieldOf(`/proc/${pid}/status`, 'VmRSS') / 1_024;
}
