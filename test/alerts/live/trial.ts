import { setTimeout as sleep } from 'node:timers/promises';
import type { PrometheusPrograms } from '@svc/local';
import { startLoad } from '../../faults/load/load.ts';
import { shortSize } from '../../faults/sizes.ts';
import { populate } from '../../faults/world/tenants.ts';
import type { World } from '../../faults/world/types.ts';
import { startWorld } from '../../faults/world/world.ts';
import { createRandom } from '../../simulation/random.ts';
import type { LiveFault } from './faults.ts';
import { noticeSecondsMax, type Watched } from './judge.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

export interface TrialOptions {
  readonly programs: PrometheusPrograms;
  readonly fault: LiveFault;
  /** False for the negative control: the fault does not happen. */
  readonly strikes: boolean;
  readonly perSecond: number;
  readonly quietSeconds: number;
  readonly faultSeconds: number;
  /**
   * Alerts are still recorded for this long after the repair of the fault, because an alert on a
   * rate over several minutes can begin to fire after the repair.
   */
  readonly afterSeconds: number;
  readonly say: (line: string) => void;
  /**
   * Called `noticeSecondsMax` seconds after the fault has begun. If `strikes` is false, the time
   * counts from the moment at which the fault would begin.
   */
  readonly onNotice: (prometheus: Prometheus) => Promise<void>;
  /** Called at the end: the load has stopped, and the services still run. */
  readonly onEnd?: (world: World) => Promise<void>;
}

const endSecondsMax = 120;
const seed = 1;
const lookMs = 500;
/**
 * The load does not use these behaviours of nodes. With `sandbox.decline` the gateway would answer
 * 503, which the alerts on availability count.
 */
const without = ['sandbox.decline'];

export async function runTrial(options: TrialOptions): Promise<Watched> {
  const { programs, perSecond, onEnd } = options;
  const world = await startWorld({ size: shortSize });
  try {
    const population = await populate(world, createRandom(seed));
    const prometheus = await startPrometheus(programs, world.dir, world.services);
    try {
      const random = createRandom(seed + 1);
      const load = startLoad({ ...world, ...population }, { perSecond, random, without });
      const watched = await watch(world, prometheus, options);
      await load.stop();
      await onEnd?.(world);
      return watched;
    } finally {
      await prometheus.stop();
      await population.close();
    }
  } finally {
    await world.close();
  }
}

async function watch(
  world: World,
  prometheus: Prometheus,
  { fault, strikes, quietSeconds, faultSeconds, afterSeconds, say, onNotice }: TrialOptions,
): Promise<Watched> {
  const quiet = new Map<string, number>();
  await noteAlerts(prometheus, quiet, performance.now(), quietSeconds);
  const fired = new Map<string, number>();
  const struckMs = performance.now();
  if (strikes) await fault.strike(world);
  say(
    `${fault.name}: after ${quietSeconds} s of load, ${strikes ? 'the fault begins' : 'the fault is left out (--without-fault)'}`,
  );
  const noted = noteAlerts(prometheus, fired, struckMs, faultSeconds);
  await sleep(noticeSecondsMax * 1_000);
  await onNotice(prometheus);
  await noted;
  if (strikes) await fault.heal(world);
  const healedMs = performance.now();
  const untilEnded = async (): Promise<number | undefined> => {
    while (elapsedSeconds(healedMs) < endSecondsMax) {
      const firing = await prometheus.firing();
      if (!fault.must.some((name) => firing.includes(name))) return elapsedSeconds(healedMs);
      await sleep(lookMs);
    }
    return undefined;
  };
  const healedAfterSeconds = elapsedSeconds(struckMs);
  const [endedSeconds] = await Promise.all([
    untilEnded(),
    noteAlerts(prometheus, fired, struckMs, healedAfterSeconds + afterSeconds),
  ]);
  return { quiet: [...quiet.keys()], fired, endedSeconds };
}

/**
 * Watches the alerts until `untilSeconds` seconds after `sinceMs`. For each alert that fires,
 * `seen` gets the seconds from `sinceMs` until the alert first fired.
 */
async function noteAlerts(
  prometheus: Prometheus,
  seen: Map<string, number>,
  sinceMs: number,
  untilSeconds: number,
): Promise<void> {
  while (elapsedSeconds(sinceMs) < untilSeconds) {
    for (const name of await prometheus.firing()) {
      if (!seen.has(name)) seen.set(name, elapsedSeconds(sinceMs));
    }
    await sleep(lookMs);
  }
}

function elapsedSeconds(ms: number): number {
  return (performance.now() - ms) / 1_000;
}
