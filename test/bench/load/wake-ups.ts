import { readdirSync } from 'node:fs';
import { childrenByParent, fieldOf, type Pids, treeOf } from './processes.ts';

/**
 * The voluntary context switches of each thread so far, by kind of process and by the thread's path
 * in `/proc`. The kernel counts one each time that the thread waits for an event.
 */
export type WakeUps = Readonly<Record<string, ReadonlyMap<string, number>>>;

export function wakeUpsOf(pids: Pids): WakeUps {
  const children = childrenByParent();
  return Object.fromEntries(
    Object.entries(pids).map(([kind, roots]) => [
      kind,
      new Map(
        roots
          .flatMap((root) => treeOf(root, children))
          .flatMap((pid) => threadsOf(pid))
          .map((thread) => [thread, fieldOf(`${thread}/status`, 'voluntary_ctxt_switches')]),
      ),
    ]),
  );
}

/** The wake-ups between two counts. Leaves out threads that ended before `after` was taken. */
export function wakeUpsBetween(before: WakeUps, after: WakeUps): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([kind, threads]) => [
      kind,
      [...threads].reduce(
        (sum, [thread, count]) => sum + Math.max(0, count - (before[kind]?.get(thread) ?? 0)),
        0,
      ),
    ]),
  );
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  } catch {
    return [];
  }
}
