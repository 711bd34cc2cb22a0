import { parseArgs } from 'node:util';
import { chromiumBinary } from '@svc/local';
import { type Figures, measureJob } from './measure.ts';

/**
 * `pnpm executor:figures [--jobs N]`: runs N jobs, and one more that measures the memory. Checks
 * the figures against limits.
 */
const { values } = parseArgs({ options: { jobs: { type: 'string', default: '10' } } });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const binary = await chromiumBinary();
// The first job may be slow, because it loads the browser's files into the system's file cache. So
// only the memory figure of this job is used.
const { peakPssBytes } = await measureJob(binary, 'W0', { samplesMemory: true });
const measured: Figures[] = [];
for (let job = 1; job <= Number(values.jobs); job += 1) {
  measured.push(await measureJob(binary, `W${job}`));
}

function median(of: (figures: Figures) => number): number {
  const sorted = measured.map(of).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const seconds = median((one) => one.seconds);
const worstRatio = Math.max(...measured.map(({ ratioOfBytes }) => Math.abs(1 - ratioOfBytes)));
const peakPssMb = peakPssBytes / 2 ** 20;
const cpuSeconds = median((one) => one.cpuSeconds);
const checks = [
  { text: `${seconds.toFixed(2)} s per job (at most 3)`, isHeld: seconds <= 3 },
  {
    text: `${(3_600 / seconds).toFixed(0)} jobs per hour and slot (at least 1200)`,
    isHeld: 3_600 / seconds >= 1_200,
  },
  { text: `${cpuSeconds.toFixed(2)} s of CPU per job (at most 1)`, isHeld: cpuSeconds <= 1 },
  {
    text: `${peakPssMb.toFixed(0)} MiB of memory at the peak (at most 300)`,
    isHeld: peakPssMb <= 300,
  },
  {
    text: `the agent's count of bytes differs from the employer's by up to ${(worstRatio * 100).toFixed(2)} % (at most 1)`,
    isHeld: worstRatio <= 0.01,
  },
];
for (const { text, isHeld } of checks) say(`${text}: ${isHeld ? 'held' : 'NOT HELD'}`);
const broken = checks.filter(({ isHeld }) => !isHeld).length;
say(
  `${measured.length} jobs: ${broken === 0 ? 'all limits hold' : `${broken} of ${checks.length} limits NOT HELD`}`,
);
process.exitCode = broken === 0 ? 0 : 1;
