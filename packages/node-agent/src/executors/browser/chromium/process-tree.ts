import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessReading, processesWithCommand, readProcessTable } from './process-table.ts';

const killTimeoutMs = 5_000;
const killPollMs = 10;

/**
 * Returns `root`, the processes of its group, and all descendants of these processes. If the agent
 * is also in this group, the group is not used.
 */
export function treeOf(root: ProcessReading, table: readonly ProcessReading[]): ProcessReading[] {
  // Processes whose parent has ended are found by the group of `root`.
  const isOwnGroup = root.groupId !== groupOfThisProcess(table);
  const inTree = new Set([root.pid]);
  let sizeBefore = 0;
  while (inTree.size > sizeBefore) {
    sizeBefore = inTree.size;
    for (const { pid, parentPid, groupId } of table) {
      const isInGroup = isOwnGroup && groupId === root.groupId;
      if (isInGroup || inTree.has(parentPid)) inTree.add(pid);
    }
  }
  return table.filter(({ pid }) => inTree.has(pid));
}

function groupOfThisProcess(table: readonly ProcessReading[]): number | undefined {
  return table.find(({ pid }) => pid === process.pid)?.groupId;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended, or this user may not kill it. `killTree` throws if it still runs.
  }
}

/** Kills the processes of the tree, except this process. Throws if one still runs after 5 s. */
export async function killTree(root: ProcessReading): Promise<void> {
  const untilMs = performance.now() + killTimeoutMs;
  for (;;) {
    const tree = treeOf(root, readProcessTable()).filter(({ pid }) => pid !== process.pid);
    if (tree.every(({ isZombie }) => isZombie)) return;
    if (performance.now() > untilMs) {
      throw new Error(
        `a process of the tree of ${root.pid} still runs ${killTimeoutMs} ms after SIGKILL`,
      );
    }
    for (const { pid } of tree) kill(pid);
    // oxlint-disable-next-line no-await-in-loop
    await delay(killPollMs);
  }
}

export async function killProcessesOf(text: string): Promise<void> {
  const found = new Set(processesWithCommand(text).filter((pid) => pid !== process.pid));
  const roots = readProcessTable().filter(({ pid }) => found.has(pid));
  await Promise.all(roots.map(killTree));
}
