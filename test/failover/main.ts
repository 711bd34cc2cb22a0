import { parseArgs } from 'node:util';
import { endEarlyInOrder } from '../faults/end-early.ts';
import { describeReport } from '../faults/report.ts';
import { clusters } from './clusters.ts';
import { runTrial, type TrialReport } from './trial.ts';

endEarlyInOrder();

/**
 * `pnpm failover [--only NAME] [--times N] [--rate R] [--seed S]`: makes N failovers of each cluster
 * (`clusters.ts`) while tenants send up to R new applications per second.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(clusters) },
    times: { type: 'string', default: '2' },
    rate: { type: 'string', default: '15' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
  },
});

const say = (line: string) => void process.stdout.write(`${line}\n`);
const times = Number(values.times);
const seed = Number(values.seed);
const trials: TrialReport[] = [];
for (const name of values.only) {
  const open = clusters[name];
  if (open === undefined)
    throw new Error(`--only ${name} is unknown; give ${Object.keys(clusters).join(', ')}`);
  const cluster = open();
  say(`\n${cluster.name}, ${times} times`);
  const trial = await runTrial(cluster, { seed, perSecond: Number(values.rate), times, say });
  for (const line of describeReport(trial.report)) say(line);
  trials.push(trial);
}

const seconds = (ms: number | undefined) =>
  ms === undefined ? 'never' : `${(ms / 1000).toFixed(2)} s`;
say('\ntime from the promotion, or from the end of the read-only time, to the next creation:');
for (const { name, recoveriesMs, recoveryMsMax } of trials)
  say(`  ${recoveriesMs.map(seconds).join(', ')} (at most ${seconds(recoveryMsMax)})  ${name}`);
const slow = trials.flatMap(({ recoveriesMs, recoveryMsMax }) =>
  recoveriesMs.filter((ms) => ms === undefined || ms > recoveryMsMax),
);
const violations = trials.flatMap(({ report }) => report.violations);
const isHeld = slow.length === 0 && violations.length === 0;
const sum = (of: (report: TrialReport['report']) => number) =>
  trials.reduce((total, { report }) => total + of(report), 0);
const checks = sum((report) => report.checks.reduce((total, { count }) => total + count, 0));
say(
  `${isHeld ? 'held' : 'BROKEN'}: ${trials.length * times} failovers of ${trials.length} clusters, ${sum(({ submissions }) => submissions)} submissions, seed ${seed}; ${checks} checks, ${violations.length} violations; ${slow.length} late recoveries`,
);
process.exit(isHeld ? 0 : 1);
