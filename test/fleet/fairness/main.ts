import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { tryRegistry } from './registry.ts';

/**
 * `pnpm fairness [--seconds 60] [--rate 1] [--registry-only]`: a tenant that submits `rate` times a
 * second, alone and beside a tenant 50 times as fast. First with the fleet registry alone, before and
 * after decision 40, then with the whole stack. The last line is the verdict.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '1' },
    'registry-only': { type: 'boolean', default: false },
  },
});
const ratioMin = 0.9;
const timesAsFast = 50;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`;

const seconds = Number(values.seconds);
const slowPerSecond = Number(values.rate);
const floodPerSecond = slowPerSecond * timesAsFast;
const trial = { seconds, slowPerSecond, floodPerSecond };
const [alone, before, after] = await Promise.all([
  tryRegistry({ ...trial, floodPerSecond: 0, isFair: true }),
  tryRegistry({ ...trial, isFair: false }),
  tryRegistry({ ...trial, isFair: true }),
]);
const ratio = after.slow / alone.slow;
say('registry                 | slow tenant | ratio | flood');
say(`alone                    | ${percent(alone.slow)} | 1 |`);
say(
  `flood, first come        | ${percent(before.slow)} | ${(before.slow / alone.slow).toFixed(2)} | ${percent(before.flood)}`,
);
say(
  `flood, short slots shared | ${percent(after.slow)} | ${ratio.toFixed(2)} | ${percent(after.flood)}`,
);
const isRegistryFair = ratio >= ratioMin;

let isStackFair = true;
if (!values['registry-only']) {
  const { status } = spawnSync(
    'vitest',
    ['run', '--disableConsoleIntercept', path.join(import.meta.dirname, 'fairness.test.ts')],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        FAIRNESS_SECONDS: values.seconds,
        FAIRNESS_PER_SECOND: values.rate,
      },
    },
  );
  isStackFair = status === 0;
}
const isFair = isRegistryFair && isStackFair;
const parts = values['registry-only'] ? 'registry' : 'registry and stack';
say(`${parts}, ${values.rate} a second for ${seconds} s: ${isFair ? 'fair' : 'UNFAIR'}`);
process.exitCode = isFair ? 0 : 1;
