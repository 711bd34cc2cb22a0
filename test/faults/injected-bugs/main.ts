import { parseArgs } from 'node:util';
import { kindsCount } from '../catalogue/schedule.ts';
import { endEarlyInOrder } from '../end-early.ts';
import type { FaultsReport } from '../report.ts';
import { runFaults } from '../run.ts';
import { shortPace, shortSize } from '../sizes.ts';
import { injectedBugs } from './catalogue.ts';
import type { InjectedBug } from './injected-bug.ts';

endEarlyInOrder();

/**
 * `pnpm faults:bugs [NAME…] [--seed S] [--rate R]`: runs the faults with each named bug in turn.
 * Without names, takes all injected bugs except those that another test catches.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '12' },
  },
});
/**
 * The numbers of faults in the first and the second run with a bug. The second run happens only if
 * the first one does not catch the bug.
 */
const faultCounts = [kindsCount, 48];
/**
 * The longest wait until the system is at rest. It is short, because with many of the bugs the
 * system never comes to rest.
 */
const restBoundMs = 25_000;
const printedMax = 6;

async function runWith(bug: InjectedBug, faults: number): Promise<FaultsReport> {
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
    bug,
  });
}

function promisesBroken({ checks }: FaultsReport): string {
  return checks
    .filter(({ violations }) => violations.length > 0)
    .toSorted((one, other) => other.violations.length - one.violations.length)
    .map(({ promise, violations }) => `${promise} (${violations.length})`)
    .join('; ');
}

async function tryUntilCaught(bug: InjectedBug): Promise<boolean> {
  for (const faults of faultCounts) {
    const report = await runWith(bug, faults);
    if (report.violations.length === 0) continue;
    row([bug.name, bug.what, `${report.struck.length}`, promisesBroken(report)]);
    for (const violation of report.violations.slice(0, printedMax))
      process.stderr.write(`${violation}\n`);
    return true;
  }
  row([bug.name, bug.what, `not caught in ${faultCounts.at(-1)} faults`, '']);
  return false;
}

function row(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

const unknown = positionals.filter((word) => injectedBugs.every(({ name }) => name !== word));
if (unknown.length > 0) throw new Error(`there is no injected bug ${unknown.join(' or ')}`);
const wanted = injectedBugs.filter(({ name, caughtBy }) =>
  positionals.length === 0 ? caughtBy === undefined : positionals.includes(name),
);
row(['bug', 'what is wrong', 'faults until it was caught', 'caught by']);
row(['---', '---', '---', '---']);
let caught = 0;
for (const bug of wanted) if (await tryUntilCaught(bug)) caught += 1;
process.stdout.write(`\n${caught} of ${wanted.length} bugs caught\n`);
process.exit(caught === wanted.length ? 0 : 1);
