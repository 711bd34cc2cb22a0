import type { Random } from '../../simulation/random.ts';
import type { World } from '../world/types.ts';
import type { Fault, FaultKind, Pace, Targets } from './fault.ts';
import { processFaults } from './processes.ts';
import { proxyFaults } from './proxies.ts';
import { serverFaults } from './servers.ts';
import { slowPostgresFaults } from './slow-postgres.ts';

const catalogue: readonly FaultKind[] = [
  ...processFaults,
  ...serverFaults,
  ...proxyFaults,
  ...slowPostgresFaults,
];

/**
 * The number of kinds of faults. A schedule of this many faults contains each kind that has a
 * target.
 */
export const kindsCount = catalogue.length;

const pairChance = 0.12;

/**
 * The parts of the stack that faults can hit. They are sorted by name, because the order in which
 * processes start depends on the machine.
 */
export function targetsOf(world: World): Targets {
  return {
    services: world.services
      .map(({ service, process: { name } }) => ({ service, name }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    nodes: world.nodes.map(({ process: { name } }) => name).toSorted(),
    proxies: [...world.proxies.keys()].toSorted(),
    disksCanBeFull: world.disks.postgres.canBeFull && world.disks.redis.canBeFull,
  };
}

export function createSchedule(
  random: Random,
  targets: Targets,
  pace: Pace,
  count: number,
): Fault[] {
  const deck = shuffled(random, catalogue);
  const planned: Fault[] = [];
  while (planned.length < count) {
    const kind = deck.pop() ?? pickKind(random);
    const fault = kind.plan(random, targets, pace);
    if (fault === undefined) continue;
    const isPair = deck.length === 0 && random.chance(pairChance);
    const second = isPair ? pickKind(random).plan(random, targets, pace) : undefined;
    planned.push(second === undefined ? fault : both(fault, second));
  }
  return planned;
}

function pickKind(random: Random): FaultKind {
  let die = random.nat(catalogue.reduce((sum, { weight }) => sum + weight, 0));
  for (const kind of catalogue) {
    if (die < kind.weight) return kind;
    die -= kind.weight;
  }
  throw new Error('no fault kind was drawn: check the weights in the catalogue');
}

function both(one: Fault, other: Fault): Fault {
  return {
    kind: 'two at once',
    name: `${one.name}; and ${other.name}`,
    lastsMs: Math.max(one.lastsMs, other.lastsMs),
    async strike(world) {
      const struck = await Promise.allSettled([one.strike(world), other.strike(world)]);
      const failed = struck.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
    async heal(world) {
      // Both faults are healed in parallel, because a process that restarts may need a server that
      // the other fault has stopped.
      await Promise.all([one.heal(world), other.heal(world)]);
    },
  };
}

function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const left = [...values];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(random.nat(left.length), 1));
  return order;
}
