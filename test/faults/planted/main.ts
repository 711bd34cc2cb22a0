import { parseArgs } from 'node:util';
import { kindsCount } from '../catalogue/schedule.ts';
import { endEarlyInOrder } from '../end-early.ts';
import type { FaultsReport } from '../report.ts';
import { runFaults } from '../run.ts';
import { shortPace, shortSize } from '../sizes.ts';
import { plantedBugs } from './catalogue.ts';
import type { Planted } from './planted.ts';

endEarlyInOrder();

/**
 * `pnpm faults:planted [NAME…] [--seed S] [--rate R]`: runs the faults against each mutation, with
 * more faults each time until they catch it. It prints a table of the promises that caught each
 * mutation.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '12' },
  },
});
/** Each kind once, then more. */
const faultCounts = [kindsCount, 48];
/** Short, because many of the mutations prevent the system from ever coming to rest. */
const restBoundMs = 25_000;
/** How many violations are printed in full, on the standard error. */
const printedMax = 6;

async function runWith(planted: Planted, faults: number): Promise<FaultsReport> {
  return runFaults({
    faults,
    seed: Number(values.seed),
    minutes: 0,
    perSecond: Number(values.rate),
    size: shortSize,
    pace: shortPace,
    movesClock: true,
    restBoundMs,
    endsWhenBroken: true,
    planted,
  });
}

/** The broken promises, the one with the most violations first. */
function promisesBroken({ checks }: FaultsReport): string {
  return checks
    .filter(({ violations }) => violations.length > 0)
    .toSorted((one, other) => other.violations.length - one.violations.length)
    .map(({ promise, violations }) => `${promise} (${violations.length})`)
    .join('; ');
}

async function tryUntilCaught(planted: Planted): Promise<boolean> {
  for (const faults of faultCounts) {
    const report = await runWith(planted, faults);
    if (report.violations.length === 0) continue;
    row([planted.name, planted.what, `${report.struck.length}`, promisesBroken(report)]);
    for (const violation of report.violations.slice(0, printedMax))
      process.stderr.write(`${violation}\n`);
    return true;
  }
  row([planted.name, planted.what, `not in ${faultCounts.at(-1)}`, '']);
  return false;
}

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

const wanted = plantedBugs.filter(({ name, caughtBy }) =>
  positionals.length === 0 ? caughtBy === undefined : positionals.includes(name),
);
row(['planted', 'what is wrong', 'caught in faults', 'by']);
row(['---', '---', '---', '---']);
let caught = 0;
for (const planted of wanted) if (await tryUntilCaught(planted)) caught += 1;
process.stdout.write(`\n${caught} of ${wanted.length} mutations caught\n`);
process.exit(caught === wanted.length ? 0 : 1);
