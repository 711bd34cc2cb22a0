import { setTimeout as delay } from 'node:timers/promises';
import type { Driver, World } from './load/children.ts';
import { cpuSeconds } from './load/cpu.ts';
import type { LoadTenant } from './load/messages.ts';
import type { System } from './systems.ts';

export interface Shape {
  readonly name: string;
  readonly inFlight: number;
  readonly tenants: number;
  /** Post to 201, or on to the acknowledged webhook. */
  readonly until: 'created' | 'told';
}

/** One measurement: rates a second, milliseconds, CPU microseconds a submission by process. */
export interface Sample {
  readonly perSecond: number;
  /** Answers other than 201. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly cpuMicrosAll: number;
}

export interface Bench {
  readonly driver: Driver;
  readonly worlds: Readonly<Record<System['name'], World>>;
}

const pollMs = 20;
const drainBoundMs = 60_000;
/** Of the floor's answers some are 503: `waitUntilFinished` misses what finishes too soon. */
const refusedShareMax = 0.02;

/** Drives one shape against one system for some seconds, then lets everything come to its end. */
export async function measure(
  { driver, worlds }: Bench,
  system: System,
  shape: Shape,
  seconds: number,
): Promise<Sample> {
  const world = worlds[system.name];
  const isLife = shape.until === 'told';
  const tenants: readonly LoadTenant[] = (isLife ? system.told : system.quiet).slice(
    0,
    shape.tenants,
  );
  const before = await world.ask({ kind: 'mode', mode: isLife ? 'complete' : 'accept' });
  const cpuBefore = cpuSeconds(system.pids);
  const startedMs = Date.now();
  const { gatewayUrl } = system;
  const requestsMax = Number.MAX_SAFE_INTEGER;
  const load = { gatewayUrl, tenants, inFlight: shape.inFlight, seconds, requestsMax };
  const result = await driver.ask(load);
  const { created } = result;
  const refused = Object.values(result.refused).reduce((sum, count) => sum + count, 0);
  if (refused > created * refusedShareMax)
    throw new Error(`${system.name}, ${shape.name}: refused ${JSON.stringify(result.refused)}`);
  let elapsedSeconds = result.seconds;
  if (isLife) {
    const until = before.webhooks + created;
    const counts = await waitFor(async () => {
      const now = await world.ask({ kind: 'count' });
      return now.webhooks >= until ? now : undefined;
    });
    elapsedSeconds = (counts.lastWebhookAtMs - startedMs) / 1_000;
  }
  const cpuAfter = cpuSeconds(system.pids);
  const cpuMicros = Object.fromEntries(
    Object.entries(cpuAfter).map(([name, after]) => [
      name,
      ((after - (cpuBefore[name] ?? 0)) / created) * 1e6,
    ]),
  );
  await world.ask({ kind: 'release' });
  await waitFor(async () => ((await system.inFlight()) === 0 ? true : undefined));
  const sorted = result.latenciesMs.toSorted((one, other) => one - other);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    perSecond: created / elapsedSeconds,
    refused,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    cpuMicros,
    cpuMicrosAll: Object.values(cpuMicros).reduce((sum, micros) => sum + micros, 0),
  };
}

async function waitFor<T>(look: () => Promise<T | undefined>): Promise<T> {
  const endMs = Date.now() + drainBoundMs;
  while (Date.now() < endMs) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(pollMs);
  }
  throw new Error(`not at its end after ${drainBoundMs} ms`);
}
