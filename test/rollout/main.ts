import { parseArgs } from 'node:util';
import { type ServiceName, serviceNames } from '@svc/local';
import { endEarlyInOrder } from '../faults/end-early.ts';
import { describeReport } from '../faults/report.ts';
import { p99RatioMax, runRollout } from './trial.ts';

endEarlyInOrder();

/**
 * `pnpm rollout`: replaces and scales the processes of each service under load
 * (docs/lab/rollout.md).
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    rate: { type: 'string', default: '10' },
    'quiet-seconds': { type: 'string', default: '60' },
    only: { type: 'string', multiple: true },
    'no-scale': { type: 'boolean', default: false },
    // A run with this option is the negative control: its verdict must be `BROKEN`.
    kill: { type: 'boolean', default: false },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
});

const say = (line: string) => void process.stdout.write(`${line}\n`);
const isWanted = (service: ServiceName) => values.only?.includes(service) ?? true;
const { steps, report, failed, failedCreations, moved, latencies, slowest } = await runRollout(
  {
    rounds: Number(values.rounds),
    perSecond: Number(values.rate),
    quietSeconds: Number(values['quiet-seconds']),
    services: serviceNames.filter(isWanted),
    scales: !values['no-scale'],
    kills: values.kill,
    seed: Number(values.seed),
  },
  say,
);
for (const line of describeReport(report)) say(line);

say('\ntime from a POST /v1/submissions to its 201:');
const quietP99Ms = latencies.find(({ phase }) => phase === 'quiet')?.p99Ms ?? Number.NaN;
for (const { phase, count, p50Ms, p99Ms } of latencies)
  say(
    `  ${phase.padEnd(7)} ${`${count}`.padStart(6)}  p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${(p99Ms / quietP99Ms).toFixed(2)} × the p99 of "quiet"`,
  );
say(
  `slowest: ${slowest.map(({ step, takenMs }) => `${takenMs.toFixed(0)} ms in "${step.name}"`).join(', ')}`,
);
for (const [answer, count] of Object.entries(failed)) say(`failed: ${count} × ${answer}`);
for (const [what, count] of countOf(failedCreations)) say(`  ${count} × ${what}`);
for (const line of moved) say(`failed because of a rollout step: ${line}`);
const failures = Object.values(failed).reduce((sum, count) => sum + count, 0);
const answers = Object.values(report.answers).reduce((sum, count) => sum + count, 0);
const worst = Math.max(...latencies.map(({ p99Ms }) => p99Ms / quietP99Ms));
const isHeld =
  failures === 0 &&
  moved.length === 0 &&
  report.violations.length === 0 &&
  latencies.length > 1 &&
  worst <= p99RatioMax;
say(
  `${isHeld ? 'held' : 'BROKEN'}: ${steps} steps, ${report.submissions} submissions, ${answers} answers, ${failures} failed; ${moved.length} submissions failed because of a step; worst p99 ${worst.toFixed(2)} × that of "quiet" (limit ${p99RatioMax}); ${report.violations.length} violations; seed ${report.seed}`,
);
process.exit(isHeld ? 0 : 1);

function countOf(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
