import { endEarlyInOrder } from '../faults/end-early.ts';
import { describeReport } from '../faults/report.ts';
import { runName } from './layout.ts';
import { readOptions } from './options.ts';
import { bounds, runHosts } from './trial.ts';

/**
 * `node inside.ts PID ARGUMENTS`: the trial, which `pnpm hosts` starts in the network namespace of
 * the tenants. `PID` is the process id of `pnpm hosts`.
 */
endEarlyInOrder();

const [pid, ...args] = process.argv.slice(2);
const options = readOptions(args);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const { partitions, oneWay, report, readiness } = await runHosts(
  runName(Number(pid)),
  options,
  say,
);
for (const line of describeReport(report)) say(line);

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const spread = (ms: readonly number[]) => {
  const sorted = ms.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  const most = sorted.at(-1);
  if (median === undefined || most === undefined) return 'not measured';
  return `median ${seconds(median)}, longest ${seconds(most)}, ${ms.length} measurements`;
};
say('\nreadiness:');
say(
  `  from a cut until /ready answers "not ready": ${spread(readiness.notReadyMs)}, bound ${seconds(bounds.notReadyMsMax)}`,
);
say(
  `  from the end of a cut until /ready answers "ready": ${spread(readiness.readyMs)}, bound ${seconds(bounds.readyMsMax)}`,
);
for (const line of readiness.wrong) say(`  WRONG: ${line}`);
const checks = report.checks.reduce((total, { count }) => total + count, 0);
const isHeld = report.violations.length === 0 && readiness.wrong.length === 0;
say(
  `${isHeld ? 'held' : 'BROKEN'}: ${partitions} partitions of ${options.seconds} s (${oneWay} of their cuts in one direction only), ${report.submissions} submissions, seed ${options.seed}; ${checks} checks, ${report.violations.length} violations; ${readiness.statements} requests to /ready, ${readiness.wrong.length} wrong results`,
);
process.exit(isHeld ? 0 : 1);
