import type { Fault } from '../faults/catalogue/fault.ts';
import { describeFault, type FaultsReport } from '../faults/report.ts';
import { runFaults } from '../faults/run.ts';
import { longPace, size } from '../faults/sizes.ts';
import type { World } from '../faults/world/types.ts';
import { createRandom } from '../simulation/random.ts';
import { hostOf, type Layout, layoutOf } from './layout.ts';
import { namespacedHosts } from './namespaced-hosts.ts';
import { type Direction, dropPackets, passPackets } from './network.ts';
import type { HostsOptions } from './options.ts';
import { type Cut, describeCut, planCuts, unreachableFor } from './partitions.ts';
import { type Bounds, judge, type Judgement } from './readiness.ts';
import { serversOf } from './servers.ts';
import { startWatch, type Watch } from './watch.ts';

/**
 * The longest times until `/ready` is correct after a cut and after a heal. TCP may take 13 s to
 * repeat a packet after a cut of 20 s ends, and then a check takes up to 2 s.
 */
export const bounds: Bounds = { notReadyMsMax: 5_000, readyMsMax: 15_000 };

export interface HostsReport {
  readonly partitions: number;
  readonly oneWay: number;
  readonly report: FaultsReport;
  readonly readiness: Judgement;
}

/**
 * Cuts the network between hosts as `options` say, under load, and audits the result. The caller's
 * process must be in the network namespace of the tenants.
 */
export async function runHosts(
  run: string,
  options: HostsOptions,
  say: (line: string) => void,
): Promise<HostsReport> {
  const layout = layoutOf(run, size);
  const hostNames = layout.hosts.map(({ name }) => name);
  const planned = planCuts(createRandom(options.seed), hostNames, options);
  const watches: Watch[] = [];
  const watchOf = (world: World): Watch => {
    const [watch = startWatch(world, layout.watchAddress)] = watches;
    watches[0] = watch;
    return watch;
  };
  const report = await runFaults({
    faults: planned.length,
    schedule: planned.map((cuts) => partition(layout, cuts, options.seconds, watchOf)),
    seed: options.seed,
    minutes: 0,
    perSecond: options.perSecond,
    size,
    pace: longPace,
    movesClock: true,
    servers: serversOf(layout),
    hosts: namespacedHosts(layout),
    onFault: (struck) => say(describeFault(struck)),
    say,
    afterFaults: async () => {
      for (const watch of watches) await watch.stop();
    },
  });
  const [watch] = watches;
  if (watch === undefined) throw new Error('no partition was made');
  return {
    partitions: planned.length,
    oneWay: planned.flat().filter(({ way }) => way !== 'both ways').length,
    report,
    readiness: judge(watch.services, watch.statements, watch.changes, bounds),
  };
}

function partition(
  layout: Layout,
  cuts: readonly Cut[],
  seconds: number,
  watchOf: (world: World) => Watch,
): Fault {
  const directions = cuts.flatMap((cut) => directionsOf(layout, cut));
  const note = (world: World, present: readonly Cut[]): void => {
    const watch = watchOf(world);
    for (const service of watch.services) {
      const isStruck = unreachableFor(service, cuts).length > 0;
      if (isStruck) watch.note(service, unreachableFor(service, present));
    }
  };
  return {
    kind: cuts.length === 1 ? kindOf(cuts) : 'several partitions at once',
    name: `${cuts.map(describeCut).join(', ')} for ${seconds} s`,
    lastsMs: seconds * 1_000,
    strike(world) {
      for (const direction of directions) dropPackets(direction);
      note(world, cuts);
    },
    heal(world) {
      for (const direction of directions) passPackets(direction);
      note(world, []);
    },
  };
}

function kindOf([cut]: readonly Cut[]): string {
  return cut === undefined ? '' : `${cut.pair}, ${cut.way}`;
}

function directionsOf(layout: Layout, { one, other, way }: Cut): Direction[] {
  const there = { from: hostOf(layout, one), to: hostOf(layout, other) };
  const back = { from: there.to, to: there.from };
  switch (way) {
    case 'both ways':
      return [there, back];
    case 'there':
      return [there];
    case 'back':
      return [back];
    default: {
      const never: never = way;
      return never;
    }
  }
}
