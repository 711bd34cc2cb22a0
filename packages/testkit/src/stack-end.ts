import type { TestDatabase } from './database.ts';
import type { TestRedis } from './redis.ts';
import type { Slot } from './stack-processes.ts';

const logTailLines = 60;

/** Ends services before what they stand on; throws the first thing that was not in order. */
export async function endStack({
  slots,
  database,
  redis,
}: {
  readonly slots: readonly Slot[];
  readonly database: TestDatabase;
  readonly redis: TestRedis;
}): Promise<void> {
  const results = [
    ...(await Promise.allSettled(slots.map(endSlot))),
    ...(await Promise.allSettled([database.close(), redis.close()])),
  ];
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** A process that a test killed has ended already; any other must drain in order. */
async function endSlot(slot: Slot): Promise<void> {
  if (!slot.current.isRunning()) return;
  await slot.current.stop();
  const how = await slot.current.exited;
  if (how !== 'exited with 0') {
    throw new Error(`${slot.current.name} did not drain: it ${how}\n${describeLogs(slot)}`);
  }
}

/** The end of a process's log under its name. */
export function describeLogs(slot: Slot): string {
  const lines = slot.current.logs().slice(-logTailLines);
  return [`--- ${slot.current.name}`, ...lines].join('\n');
}
