import type { QueueStatus } from '@svc/queue';
import type { CommandOptions } from '../command.ts';
import { shortDuration } from '../durations.ts';
import { printJson, printTable } from '../output.ts';

export const queueColumns = ['queue', 'waiting', 'active', 'delayed', 'failed', 'oldest', 'state'];

export function queueCells(status: QueueStatus): string[] {
  const { queue, waiting, active, delayed, failed, oldestWaitingMs, paused } = status;
  const oldest = oldestWaitingMs === null ? '-' : shortDuration(oldestWaitingMs);
  const counts = [waiting, active, delayed, failed].map(String);
  return [queue, ...counts, oldest, paused ? 'paused' : 'open'];
}

export function printQueues(queues: readonly QueueStatus[], options: CommandOptions): void {
  if (options.json === true) return printJson(queues);
  printTable(queueColumns, queues.map(queueCells));
}
