import type { TestDatabase } from './database.ts';
import type { TestRedis } from './redis.ts';
import type { Slot } from './stack-processes.ts';

const logTailLines = 60;

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

/**
 * Stops the process `slot.current`. Throws if this process does not exit with 0. Does nothing if it
 * has already ended.
 */
async function endSlot(slot: Slot): Promise<void> {
  if (!slot.current.isRunning()) return;
  await slot.current.stop();
  const how = await slot.current.exited;
  if (how !== 'exited with 0') {
    throw new Error(`${slot.current.name} did not drain: it ${how}\n${describeLogs(slot)}`);
  }
}

export function describeLogs(slot: Slot): string {
  const lines = slot.current.logs().slice(-logTailLines);
  return [`--- ${slot.current.name}`, ...lines].join('\n');
}
