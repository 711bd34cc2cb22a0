import { parseArgs } from 'node:util';
import { isPairName, type PairName, pairs } from './partitions.ts';

export interface HostsOptions {
  readonly pairs: readonly PairName[];
  readonly combinations: number;
  /** How long each cut lasts. */
  readonly seconds: number;
  readonly seed: number;
  readonly perSecond: number;
}

/** Reads the options of `pnpm hosts` (docs/lab/hosts.md). Throws if an option is not valid. */
export function readOptions(args: readonly string[]): HostsOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pairs: { type: 'string', default: Object.keys(pairs).join(',') },
      combinations: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '20' },
      seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
      rate: { type: 'string', default: '10' },
    },
  });
  return {
    pairs: values.pairs.split(',').map((name) => {
      if (isPairName(name)) return name;
      throw new Error(
        `--pairs does not accept ${name}. It accepts ${Object.keys(pairs).join(', ')}`,
      );
    }),
    combinations: numberOf('combinations', values.combinations),
    seconds: numberOf('seconds', values.seconds),
    seed: numberOf('seed', values.seed),
    perSecond: numberOf('rate', values.rate),
  };
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value < 0)
    throw new Error(`--${name} must be a number, 0 or higher`);
  return value;
}
