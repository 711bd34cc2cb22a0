import { parseArgs } from 'node:util';

/**
 * `pnpm bench [--quick] [--only TEXT] [--rounds N] [--seconds N] [--rates N,N]
 * [--seed-rows N] [--profile DIR] [--against DIR]`:
 * see docs/PERFORMANCE.md.
 */
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    rates: { type: 'string' },
    against: { type: 'string' },
    profile: { type: 'string' },
    'seed-rows': { type: 'string', default: '0' },
  },
});

const { quick } = values;

function natural(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new Error(`--${name} accepts only whole numbers, 0 or higher`);
  return value;
}

export const options = {
  quick,
  /** The run has only the parts and shapes whose names contain this text. Empty: all of them. */
  only: values.only,
  /** Another checkout, whose product takes the place of the baseline. */
  againstDir: values.against,
  profileDir: values.profile,
  /**
   * If above 0, the run compares two databases: one with this many finished submissions at the
   * start, and one with `seedRowsFew`.
   */
  seedRows: natural('seed-rows', values['seed-rows']),
  seedRowsFew: 10_000,
  rounds: natural('rounds', values.rounds ?? (quick ? '1' : '5')),
  seconds: natural('seconds', values.seconds ?? (quick ? '1' : '6')),
  tenants: quick ? 100 : 1_000,
  nodes: 24,
  openLoop: {
    perSecond: (values.rates ?? (quick ? '50,200' : '25,50,100,200,300'))
      .split(',')
      .map((rate) => natural('rates', rate)),
    shareOfCapacity: 0.8,
    rounds: natural('rounds', values.rounds ?? (quick ? '1' : '3')),
    seconds: natural('seconds', values.seconds ?? (quick ? '2' : '10')),
    /** A quick run counts no rows, because it would have to wait 11 s twice (`rowsReportedMs`). */
    countsRows: !quick,
  },
  halfLoad: quick ? { rounds: 1, seconds: 2 } : { rounds: 2, seconds: 15 },
  backlog: quick ? { rounds: 1, count: 500 } : { rounds: 3, count: 5_000 },
  cancels: quick ? { count: 100, atOnce: 4 } : { count: 1_000, atOnce: 8 },
  deadNodes: { nodes: 20, waitForRuns: !quick },
  /**
   * A quick run without `--only` does not measure four processes of each service, because the start
   * of these 16 processes takes too long for a quick run.
   */
  hasFourOfEach: !quick || values.only !== '',
  someOfEach: { rounds: natural('rounds', values.rounds ?? (quick ? '1' : '3')) },
  growth: { rounds: quick ? 1 : 4, warmUpSeconds: quick ? 1 : 15 },
} as const;

export function isWanted(name: string): boolean {
  return name.includes(options.only);
}
