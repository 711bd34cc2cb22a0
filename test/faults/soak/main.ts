import { parseArgs } from 'node:util';
import { endEarlyInOrder } from '../end-early.ts';
import { size } from '../sizes.ts';
import type { Trend } from './slope.ts';
import { soak } from './soak.ts';

endEarlyInOrder();

/**
 * `pnpm soak [--minutes M] [--rate R] [--seed S]`: M minutes of load without faults, with R new
 * applications per second. The last line is the verdict.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
const say = (line: string) => void process.stdout.write(`${line}\n`);

function describe({ name, unit, first, last, perHour, isFlat }: Trend): string {
  const figure = (value: number) => value.toFixed(unit === 'MiB' ? 1 : 0).padStart(7);
  const slope = `${perHour >= 0 ? '+' : ''}${perHour.toFixed(1)} ${unit}/h`;
  return `${figure(first)} ${figure(last)}  ${slope.padStart(14)}  ${isFlat ? '    ' : 'GROWS'} ${name}`;
}

const perSecond = Number(values.rate);
const onTrends = (trends: readonly Trend[]): void => {
  say('\n  first    last           slope');
  for (const trend of trends) say(describe(trend));
  // The values show whether a figure grows steadily or in one step.
  for (const trend of trends.filter(({ isFlat }) => !isFlat))
    say(`  ${trend.name}: ${trend.values.map((value) => value.toFixed(0)).join(' ')}`);
};
const seed = Number(values.seed);
const report = await soak({ minutes, perSecond, seed, size, say, onTrends });
for (const violation of report.violations.slice(0, 20)) say(violation.slice(0, 600));
const growing = report.trends.filter(({ isFlat }) => !isFlat);
const isGood = growing.length === 0 && report.violations.length === 0;
say(
  `\n${isGood ? 'flat' : 'NOT FLAT'}: ${minutes} min, ${report.submissions} submissions; ` +
    `${report.trends.length} figures, ${growing.length} grow; ${report.looks} checks, ${report.violations.length} violations`,
);
process.exit(isGood ? 0 : 1);
