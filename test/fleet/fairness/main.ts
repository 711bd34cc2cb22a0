import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runMs, type Tally, tryRegistry, withRegistryRedis } from './registry.ts';

/**
 * `pnpm fleet:fairness`: measures which share of a slow tenant's submissions is accepted, without
 * and with a flood: a tenant that submits 50 times as often (decision 40).
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    'stack-seconds': { type: 'string', default: '120' },
    rate: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    'registry-only': { type: 'boolean', default: false },
  },
});
const partMin = 0.9;
const timesAsFast = 50;
/**
 * The numbers of slots to try. At the default rate, 100 slots are almost enough for the flood, and
 * 10 are far too few.
 */
const slotCounts = [100, 60, 40, 20, 10] as const;
const standardKeepsFree = 0.1;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percent = ({ asked, accepted }: Tally): string =>
  asked === 0 ? '-' : `${((accepted / asked) * 100).toFixed(1)} %`;
const partOf = ({ asked, accepted }: Tally): number => accepted / asked;

const slowPerSecond = Number(values.rate);
const floodPerSecond = slowPerSecond * timesAsFast;
const shared = { seed: Number(values.seed), seconds: Number(values.seconds), slowPerSecond };

say(
  'Each % is the share of the requests of one tenant that were accepted. load = slots needed / slots that standard jobs may use. kept = % of the slow tenant with shared slots / its % alone. work = all accepted requests with shared slots / all accepted requests with first come.',
);
say('slots  load  slow alone  first come: slow  flood  shared: slow  flood  kept   work');
let asks = 0;
let unfair = 0;
await withRegistryRedis(async (redis) => {
  for (const slots of slotCounts) {
    const alone = await tryRegistry(redis, { ...shared, slots, floodPerSecond: 0, isFair: true });
    const first = await tryRegistry(redis, { ...shared, slots, floodPerSecond, isFair: false });
    const fair = await tryRegistry(redis, { ...shared, slots, floodPerSecond, isFair: true });
    const usable = slots - Math.floor(slots * standardKeepsFree);
    const load = ((slowPerSecond + floodPerSecond) * runMs) / 1_000 / usable;
    const kept = partOf(fair.slow) / partOf(alone.slow);
    const work =
      (fair.slow.accepted + fair.flood.accepted) / (first.slow.accepted + first.flood.accepted);
    if (!(kept >= partMin)) unfair += 1;
    for (const { slow, flood } of [alone, first, fair]) asks += slow.asked + flood.asked;
    say(
      [
        String(slots).padStart(5),
        load.toFixed(1).padStart(5),
        percent(alone.slow).padStart(11),
        percent(first.slow).padStart(17),
        percent(first.flood).padStart(8),
        percent(fair.slow).padStart(13),
        percent(fair.flood).padStart(8),
        kept.toFixed(3).padStart(6),
        work.toFixed(2).padStart(6),
      ].join(' '),
    );
  }
});

let stack = 'not run';
if (!values['registry-only']) {
  const { status } = spawnSync(
    'vitest',
    ['run', '--disableConsoleIntercept', path.join(import.meta.dirname, 'fairness.test.ts')],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        FAIRNESS_SECONDS: values['stack-seconds'],
        FAIRNESS_PER_SECOND: values.rate,
      },
    },
  );
  stack = status === 0 ? 'fair' : 'UNFAIR';
  if (status !== 0) unfair += 1;
}
say(
  `${unfair === 0 ? 'held' : 'BROKEN'}: ${unfair} trials failed (the slow tenant must get at least ${partMin * 100} % of what it gets alone); ${asks} requests to the registry in ${slotCounts.length} fleets, seed ${values.seed}; stack ${stack}`,
);
process.exitCode = unfair === 0 ? 0 : 1;
