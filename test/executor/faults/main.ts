import { parseArgs } from 'node:util';
import { chromiumBinary, nodeAgentEntry } from '@svc/local';
import { bundleOf, bundleProcesses } from '@svc/testkit';
import { submissionBugs } from '../../faults/injected-bugs/submission-bugs.ts';
import { runTrial } from './trial.ts';

/**
 * `pnpm executor:faults [--runs N] [--seed S] [--lanes L] [--slots N] [--bug NAME | --bugs]`:
 * disturbs most runs at random moments. It kills the agent, the browser or both, or it cuts the
 * link. Prints each violation, the ends of the runs and a verdict.
 *
 * `--lanes` is the number of agents. `--slots` is the number of runs that share an agent at a time.
 * Each kill hits all of them.
 *
 * `--bugs` puts each injected bug into the agent, one after another, and `--bug` only one. Each bug
 * gets at most `--runs` runs, and fewer if it is caught earlier.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    lanes: { type: 'string', default: '2' },
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
    `there is no injected bug ${bug}; see test/faults/injected-bugs/submission-bugs.ts`,
  );
const isBugs = bug !== undefined || values.bugs;
const isRight = isBugs ? await tryBugs(bug === undefined ? names : [bug]) : await tryRuns();
process.exitCode = isRight ? 0 : 1;
