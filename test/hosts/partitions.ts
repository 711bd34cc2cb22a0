import type { Random } from '../simulation/random.ts';

/** The pairs of parts that talk to each other, by the name that `--pairs` takes. */
export const pairs = {
  'gateway-postgres': ['gateway', 'postgres'],
  'gateway-redis': ['gateway', 'redis'],
  'dispatcher-postgres': ['dispatcher', 'postgres'],
  'dispatcher-redis': ['dispatcher', 'redis'],
  'settlement-postgres': ['settlement', 'postgres'],
  'settlement-redis': ['settlement', 'redis'],
  'webhooks-postgres': ['webhooks', 'postgres'],
  'webhooks-redis': ['webhooks', 'redis'],
  'node-dispatcher': ['node', 'dispatcher'],
  'tenants-gateway': ['tenants', 'gateway'],
  'webhooks-tenants': ['webhooks', 'tenants'],
} as const satisfies Readonly<Record<string, readonly [string, string]>>;

export type PairName = keyof typeof pairs;

export function isPairName(name: string): name is PairName {
  return Object.hasOwn(pairs, name);
}

/**
 * The directions in which a cut drops packets. `there`: only to the second host. `back`: only to
 * the first host.
 */
export const ways = ['both ways', 'there', 'back'] as const;
type Way = (typeof ways)[number];

export interface Cut {
  readonly pair: PairName;
  readonly one: string;
  readonly other: string;
  readonly way: Way;
}

export interface Plan {
  readonly pairs: readonly PairName[];
  readonly combinations: number;
}

const cutsMin = 2;
const cutsMax = 3;
/**
 * The most draws for one set of cuts. A set has at most one cut between the same two hosts, so a
 * draw may replace a cut instead of adding one.
 */
const drawsMax = 100;

/**
 * Plans one cut for each pair and each of `ways`. Also plans `combinations` sets of two or three
 * cuts at once. A set is smaller if `drawsMax` draws do not find enough pairs of hosts.
 */
export function planCuts(random: Random, hostNames: readonly string[], plan: Plan): Cut[][] {
  const single = plan.pairs.flatMap((pair) =>
    ways.map((way) => [draw(random, hostNames, pair, way)]),
  );
  const combined = Array.from({ length: plan.combinations }, () => {
    const cuts = new Map<string, Cut>();
    const count = cutsMin + random.nat(cutsMax - cutsMin + 1);
    for (let draws = 0; cuts.size < count && draws < drawsMax; draws += 1) {
      const pair = random.pick(plan.pairs);
      const way = random.pick(ways);
      if (pair === undefined || way === undefined) throw new Error('there is no pair to combine');
      const cut = draw(random, hostNames, pair, way);
      cuts.set(`${cut.one} ${cut.other}`, cut);
    }
    return [...cuts.values()];
  });
  return [...single, ...combined];
}

function draw(random: Random, hostNames: readonly string[], pair: PairName, way: Way): Cut {
  const [one, other] = pairs[pair].map((kind) =>
    random.pick(hostNames.filter((name) => name.split(' ')[0] === kind)),
  );
  if (one === undefined || other === undefined)
    throw new Error(`there are no hosts for the pair ${pair}`);
  return { pair, one, other, way };
}

export function describeCut({ one, other, way }: Cut): string {
  switch (way) {
    case 'both ways':
      return `${one} x ${other}`;
    case 'there':
      return `${one} -x> ${other}`;
    case 'back':
      return `${one} <x- ${other}`;
    default: {
      const never: never = way;
      return never;
    }
  }
}

/** The stores that the service cannot reach during these cuts. One dropped direction is enough. */
export function unreachableFor(service: string, cuts: readonly Cut[]): string[] {
  const others = cuts.filter(({ one }) => one === service).map(({ other }) => other);
  return ['postgres', 'redis'].filter((store) => others.includes(store));
}
