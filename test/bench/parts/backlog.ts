import type { Driver } from '../load/children.ts';
import { cpuSeconds } from '../load/cpu.ts';
import { drive } from '../measure.ts';
import { perSubmission } from '../meter.ts';
import { options } from '../options.ts';
import type { BackgroundService, Span, System } from '../systems/system.ts';
import { untilNoneLeft } from '../wait.ts';
import { inTurn } from './shapes.ts';

/** `perSecond` is the rate from the first processed submission to the last. */
export interface BacklogSample {
  readonly count: number;
  readonly perSecond: number;
  /**
   * The time from the restart of the stopped service to the first submission that it processed. It
   * includes the start of Node.
   */
  readonly firstAfterMs: number;
  /**
   * The CPU time of the whole system per submission, in microseconds. It is counted from the moment
   * when the restarted service was ready.
   */
  readonly totalCpuMicros: number;
}

const inFlight = 64;
const drivenSecondsMax = 300;

export async function measureBacklogs(
  driver: Driver,
  systems: readonly System[],
  away: BackgroundService,
): Promise<readonly (readonly BacklogSample[])[]> {
  const { rounds, count } = options.backlog;
  const samples = systems.map((): BacklogSample[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const index of inTurn(systems.length, round)) {
      const system = systems[index];
      if (system === undefined) continue;
      samples[index]?.push(await measureBacklog(driver, system, away, count));
    }
  }
  return samples;
}

/**
 * Stops the service `away`, lets work wait for it, starts it again, and measures how fast it
 * catches up.
 */
async function measureBacklog(
  driver: Driver,
  system: System,
  away: BackgroundService,
  count: number,
): Promise<BacklogSample> {
  const { world, name } = system;
  const isNotified = away === 'webhooks';
  const before = await world.ask({ kind: 'mode', mode: 'complete' });
  await world.ask({ kind: 'arrivals' });
  await system.stopService(away);
  const sinceMs = Date.now();
  const { posts } = await drive(driver, system, isNotified ? system.notified : system.quiet, {
    kind: 'closed',
    inFlight,
    seconds: drivenSecondsMax,
    requestsMax: count,
  });
  if (isNotified) {
    await untilNoneLeft(`the settlement of ${name}'s submissions`, () => system.inFlight());
  } else {
    await untilNoneLeft(`the storage of ${name}'s outcomes`, async () => {
      const { acknowledged } = await world.ask({ kind: 'count' });
      return before.acknowledged + posts.length - acknowledged;
    });
  }
  const startedMs = Date.now();
  await system.startService(away);
  const cpuBefore = cpuSeconds(system.pids());
  const span = await (isNotified ? untilNotified(system, sinceMs) : untilSettled(system, sinceMs));
  const cpuMicros = perSubmission(cpuBefore, cpuSeconds(system.pids()), span.count);
  return {
    count: span.count,
    perSecond: ((span.count - 1) / Math.max(1, span.lastMs - span.firstMs)) * 1_000,
    firstAfterMs: span.firstMs - startedMs,
    totalCpuMicros: Object.values(cpuMicros).reduce((sum, micros) => sum + micros, 0),
  };
}

async function untilSettled(system: System, sinceMs: number): Promise<Span> {
  await untilNoneLeft(`the settlement of ${system.name}'s outcomes`, () => system.inFlight());
  return system.endedSince(sinceMs);
}

async function untilNotified(system: System, sinceMs: number): Promise<Span> {
  const waiting = new Set((await system.deliveriesSince(sinceMs)).keys());
  const count = waiting.size;
  const atMs: number[] = [];
  await untilNoneLeft(`${system.name}'s deliveries`, async () => {
    const { arrivals = [] } = await system.world.ask({ kind: 'arrivals' });
    for (const one of arrivals) if (waiting.delete(one.deliveryId)) atMs.push(one.atMs);
    return waiting.size;
  });
  atMs.sort((one, other) => one - other);
  return { count, firstMs: atMs[0] ?? 0, lastMs: atMs.at(-1) ?? 0 };
}
