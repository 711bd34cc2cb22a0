import { parseArgs } from 'node:util';
import { chromiumBinary } from '@svc/local';
import { type Cell, cells, notShown, runCell } from './cell.ts';

/**
 * `pnpm executor:matrix [--at-once N] [--only TEXT]`: runs one job for each possible pair of an ATS
 * and a behaviour. `--only` selects some of the pairs.
 */
const { values } = parseArgs({
  options: {
    'at-once': { type: 'string', default: '2' },
    // Runs only the pairs whose names, such as `greenhouse success`, contain this text.
    only: { type: 'string', default: '' },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const nameOf = ({ ats, behaviour }: Cell): string => `${ats} ${behaviour}`;
const chosen = cells.filter((cell) => nameOf(cell).includes(values.only));
const queue = [...chosen];
const binary = await chromiumBinary();
const startedMs = performance.now();
let broken = 0;

async function work(): Promise<void> {
  for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
    const { faults, seconds } = await runCell(cell, binary);
    if (faults.length > 0) broken += 1;
    say(
      `${nameOf(cell)}: ${faults.length === 0 ? 'as expected' : faults.join('; ')} (${seconds.toFixed(1)} s)`,
    );
  }
}

await Promise.all(Array.from({ length: Number(values['at-once']) }, work));
for (const cell of notShown) say(`${nameOf(cell)}: does not exist, because ${cell.reason}`);
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const verdict = broken === 0 ? 'all as expected' : `${broken} BROKEN`;
say(`${chosen.length} cells in ${seconds} s: ${verdict}`);
process.exitCode = broken === 0 ? 0 : 1;
