import type { Driver } from './load/children.ts';
import { cpuSeconds, memoryMib } from './load/cpu.ts';
import type { LoadTenant } from './load/messages.ts';
import { quantile } from './quantile.ts';
import type { System } from './systems/system.ts';
import { untilNoneLeft } from './wait.ts';

export interface Shape {
  readonly name: string;
  readonly inFlight: number;
  readonly tenants: number;
  /** From the post to the 201, or to the acknowledged webhook. */
  readonly until: 'created' | 'notified';
  /** The maximum rate per second. Undefined: as fast as answers come. */
  readonly perSecond?: number;
}

/**
 * One measurement: rates per second, milliseconds, and CPU microseconds per submission by process.
 */
export interface Sample {
  readonly perSecond: number;
  readonly created: number;
  /** Answers other than 201. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** From the settlement's statement to the acknowledged first attempt. Only for a whole life. */
  readonly notified?: { readonly p50Ms: number; readonly p99Ms: number };
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly totalCpuMicros: number;
  /** MiB by process so far (load/cpu.ts). */
  readonly memoryMib: Readonly<Record<string, number>>;
}

/**
 * Some of the baseline's answers are 503, because `waitUntilFinished` misses jobs that finish too
 * soon.
 */
export const refusedShareMax = 0.02;
/** Nodes have slots for this many accepted submissions, with the headroom of the tier. */
const acceptedMax = 20_000;

/** Drives one shape against one system for some seconds. Then waits until everything has ended. */
export async function measure(
  driver: Driver,
  system: System,
  shape: Shape,
  seconds: number,
): Promise<Sample> {
  const { world } = system;
  const isLife = shape.until === 'notified';
  const tenants = (isLife ? system.notified : system.quiet).slice(0, shape.tenants);
  const before = await world.ask({ kind: 'mode', mode: isLife ? 'complete' : 'accept' });
  await world.ask({ kind: 'arrivals' });
  const cpuBefore = cpuSeconds(system.pids());
  const startedMs = Date.now();
  const result = await drive(driver, system, tenants, {
    ...shape,
    seconds,
    requestsMax: isLife ? Number.MAX_SAFE_INTEGER : acceptedMax,
  });
  const { created } = result;
  let elapsedSeconds = result.seconds;
  if (isLife) {
    const expected = before.webhooks + created;
    await untilNoneLeft(`${system.name}'s webhooks of "${shape.name}"`, async () => {
      const now = await world.ask({ kind: 'count' });
      elapsedSeconds = (now.lastWebhookAtMs - startedMs) / 1_000;
      return expected - now.webhooks;
    });
  }
  const cpuMicros = perSubmission(cpuBefore, cpuSeconds(system.pids()), created);
  await comeToRest(system, shape.name);
  const notified = isLife ? await notifiedAfterMs(system, startedMs) : undefined;
  const at = (share: number) => quantile(result.latenciesMs, share);
  return {
    perSecond: created / elapsedSeconds,
    created,
    refused: result.refused,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    ...(notified === undefined
      ? {}
      : { notified: { p50Ms: quantile(notified, 0.5), p99Ms: quantile(notified, 0.99) } }),
    cpuMicros,
    totalCpuMicros: Object.values(cpuMicros).reduce((sum, micros) => sum + micros, 0),
    memoryMib: memoryMib(system.pids()),
  };
}

interface Drive {
  readonly inFlight: number;
  readonly seconds: number;
  readonly requestsMax: number;
  readonly perSecond?: number;
}

/** Throws if more than a few requests were refused, or if none was created. */
export async function drive(
  driver: Driver,
  { name, gatewayUrls }: System,
  tenants: readonly LoadTenant[],
  { inFlight, seconds, requestsMax, perSecond }: Drive,
) {
  const load = { gatewayUrls, tenants, inFlight, seconds, requestsMax };
  const result = await driver.ask(perSecond === undefined ? load : { ...load, perSecond });
  const refused = Object.values(result.refused).reduce((sum, count) => sum + count, 0);
  if (result.created === 0 || refused > result.created * refusedShareMax)
    throw new Error(
      `${name}: ${result.created} created, refused ${JSON.stringify(result.refused)}`,
    );
  return { ...result, refused };
}

export function perSubmission(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  count: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [
      name,
      ((seconds - (before[name] ?? 0)) / count) * 1e6,
    ]),
  );
}

/** Waits until nothing is in flight and every node is free. */
async function comeToRest(system: System, after: string): Promise<void> {
  await system.world.ask({ kind: 'release' });
  await untilNoneLeft(`${system.name}'s submissions of "${after}" to end`, () => system.inFlight());
}

/** The latencies of all notifications since then, when all have arrived. */
async function notifiedAfterMs(system: System, sinceMs: number): Promise<number[]> {
  const made = await system.deliveriesSince(sinceMs);
  const arrivals = new Map<string, number>();
  await untilNoneLeft(`${system.name}'s webhooks`, async () => {
    const { arrivals: more = [] } = await system.world.ask({ kind: 'arrivals' });
    for (const [id, atMs] of more) arrivals.set(id, atMs);
    return [...made.keys()].filter((id) => !arrivals.has(id)).length;
  });
  return [...made].map(([id, madeAtMs]) => (arrivals.get(id) ?? Number.NaN) - madeAtMs);
}
