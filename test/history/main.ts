import { parseArgs } from 'node:util';
import { checkHistory, describeHistory } from './check.ts';
import { loadHistory } from './recorder.ts';

/** `pnpm history FILE`: checks a history that another command saved with `--history FILE`. */
const { positionals } = parseArgs({ allowPositionals: true });
const [file] = positionals;
if (file === undefined) throw new Error('usage: pnpm history FILE');
const shownMax = 20;
const history = await loadHistory(file);
const startedMs = performance.now();
const report = checkHistory(history);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
for (const { guarantee, count, violations } of report.verdicts) {
  const found = violations.length === 0 ? '' : `: ${violations.length} VIOLATIONS`;
  process.stdout.write(`${`${count}`.padStart(9)}  ${guarantee}${found}\n`);
  for (const violation of violations.slice(0, shownMax))
    process.stdout.write(`           ${violation}\n`);
}
const verdict = report.violations.length === 0 ? 'held' : 'BROKEN';
process.stdout.write(`${verdict}: ${describeHistory(report)}, checked in ${seconds} s\n`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
