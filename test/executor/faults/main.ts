import { parseArgs } from 'node:util';
import { chromiumBinary, nodeAgentEntry } from '@svc/local';
import { bundleOf, bundleProcesses } from '@svc/testkit';
import { submissionBugs } from '../../faults/injected-bugs/submission-bugs.ts';
import { runTrial } from './trial.ts';

/**
 * `pnpm executor:faults`: disturbs most jobs of the browser executor at random moments, and prints
 * each violation (docs/RELIABILITY.md, "The browser executor").
 */
const { values } = parseArgs({
  options: {
    // The number of runs. For an injected bug it is the maximum, because a violation ends the
    // trial of that bug.
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    // The number of agents.
    lanes: { type: 'string', default: '2' },
    // The number of runs that share an agent at the same time.
    slots: { type: 'string', default: '1' },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const startedMs = performance.now();
const passedSeconds = (): string => ((performance.now() - startedMs) / 1_000).toFixed(0);
const options = {
  runs: Number(values.runs),
  seed: Number(values.seed),
  lanes: Number(values.lanes),
  slots: Number(values.slots),
  binary: await chromiumBinary(),
  bundle: bundleOf(await bundleProcesses(), nodeAgentEntry),
  onViolation: say,
};

async function tryRuns(): Promise<boolean> {
  const report = await runTrial(options);
  for (const [end, count] of report.ends) say(`${count} ${end}`);
  say(`${report.received} applications arrived`);
  const count = report.violations.length;
  const verdict = count === 0 ? 'no violation' : `${count} VIOLATIONS`;
  say(`${report.runs} runs in ${passedSeconds()} s, seed ${values.seed}: ${verdict}`);
  return count === 0;
}

async function tryBugs(names: readonly string[]): Promise<boolean> {
  let caught = 0;
  for (const bug of names) {
    const report = await runTrial({ ...options, bug, endsWhenBroken: true });
    const isCaught = report.violations.length > 0;
    if (isCaught) caught += 1;
    say(`${bug}: ${isCaught ? 'caught' : 'NOT caught'} in ${report.runs} runs`);
  }
  say(`${caught} of ${names.length} bugs caught in ${passedSeconds()} s, seed ${values.seed}`);
  return caught === names.length;
}

const { bug } = values;
const names = submissionBugs.map(({ name }) => name);
if (bug !== undefined && !names.includes(bug))
  throw new Error(
    `${bug} is not a bug of this command. Pass the name of a bug in test/faults/injected-bugs/submission-bugs.ts.`,
  );
const isBugs = bug !== undefined || values.bugs;
const isRight = isBugs ? await tryBugs(bug === undefined ? names : [bug]) : await tryRuns();
process.exitCode = isRight ? 0 : 1;
