import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../simulation/random.ts';
import { audit } from '../audit/audit.ts';
import { startLoad } from '../load/load.ts';
import { comeToRest, describeRest } from '../rest.ts';
import { populate } from '../world/tenants.ts';
import type { WorldSize } from '../world/types.ts';
import { startWorld } from '../world/world.ts';
import { measure } from './measure.ts';
import { type Series, type Trend, trendOf } from './slope.ts';

export interface SoakOptions {
  readonly minutes: number;
  readonly perSecond: number;
  readonly seed: number;
  readonly size: WorldSize;
  readonly say: (line: string) => void;
  /** Called with all trends before the audit starts, because the audit takes long. */
  readonly onTrends: (trends: readonly Trend[]) => void;
}

export interface SoakReport {
  readonly trends: readonly Trend[];
  readonly submissions: number;
  readonly looks: number;
  readonly violations: readonly string[];
}

const measureEveryMs = 20_000;
/**
 * The share of the run before the first measurement. During this time, caches fill, pools open and
 * code is compiled.
 */
const warmUpShare = 0.25;
const restBoundMs = 240_000;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { minutes, perSecond, seed, size, say, onTrends } = options;
  const world = await startWorld({ size, reportsMemory: true });
  try {
    const population = await populate(world, createRandom(seed + 1));
    const tenants = [...population.tenants, population.probeTenant];
    const load = startLoad({ ...world, ...population }, { perSecond, random: createRandom(seed) });
    const series = new Map<string, Series>();
    const startedMs = performance.now();
    const elapsedMs = (): number => performance.now() - startedMs;
    const totalMs = minutes * 60_000;
    for (let minute = 0; elapsedMs() < totalMs;) {
      await sleep(Math.min(measureEveryMs, totalMs - elapsedMs()));
      if (elapsedMs() >= totalMs * warmUpShare) await takeDown(world, series, elapsedMs() / 1000);
      if (elapsedMs() < (minute + 1) * 60_000) continue;
      minute += 1;
      say(`${minute} min, ${load.begun()} applications`);
    }
    const trends = [...series.values()].map(trendOf);
    onTrends(trends);
    await load.stop();
    const rest = await comeToRest(world, tenants, { boundMs: restBoundMs, movesClock: false });
    say(describeRest(rest));
    const findings = await audit(world, tenants);
    const isAtRest = rest.restless.length === 0;
    findings.expect('the system comes to rest', isAtRest, 'at the end', () => describeRest(rest));
    await population.close();
    return {
      trends,
      submissions: [...world.seen.applications.values()].filter((one) => one.created).length,
      looks: findings.results().reduce((sum, { count }) => sum + count, 0),
      violations: findings.violations(),
    };
  } finally {
    await world.close();
  }
}

async function takeDown(
  world: Parameters<typeof measure>[0],
  series: Map<string, Series>,
  atSeconds: number,
): Promise<void> {
  for (const { name, unit, value } of await measure(world)) {
    const one = series.get(name) ?? { name, unit, points: [] };
    series.set(name, one);
    one.points.push({ atSeconds, value });
  }
}
