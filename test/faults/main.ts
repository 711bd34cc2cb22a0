import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { saveHistory } from '../history/recorder.ts';
import type { Pace } from './catalogue/fault.ts';
import { endEarlyInOrder } from './end-early.ts';
import { injectedBugs } from './injected-bugs/catalogue.ts';
import { describeFault, describeReport } from './report.ts';
import { runFaults } from './run.ts';
import { longPace, shortPace, size } from './sizes.ts';

endEarlyInOrder();

/**
 * `pnpm faults`: causes faults under load, then audits the result. docs/RELIABILITY.md lists the
 * options. With `--brief`, `--lasts` is ignored.
 */
const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '60' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    minutes: { type: 'string', default: '0' },
    rate: { type: 'string', default: '25' },
    lasts: { type: 'string', default: `${longPace.lastsMs[1]}` },
    brief: { type: 'boolean', default: false },
    keep: { type: 'string' },
    history: { type: 'string' },
    bug: { type: 'string' },
  },
});

const say = (line: string) => void process.stdout.write(`${line}\n`);
const bug = injectedBugs.find(({ name }) => name === values.bug);
if (values.bug !== undefined && bug === undefined) {
  throw new Error(`there is no injected bug ${values.bug}; see test/faults/injected-bugs`);
}

function keep(dir: string, from: string, report: object): void {
  mkdirSync(dir, { recursive: true });
  cpSync(path.join(from, 'logs'), path.join(dir, 'logs'), { recursive: true });
  cpSync(path.join(from, 'nodes'), path.join(dir, 'nodes'), { recursive: true });
  writeFileSync(path.join(dir, 'report.json'), JSON.stringify(report, null, 1));
}

const pace: Pace = values.brief
  ? shortPace
  : { ...longPace, lastsMs: [longPace.lastsMs[0], Number(values.lasts)] };
const report = await runFaults({
  faults: Number(values.faults),
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  perSecond: Number(values.rate),
  size,
  pace,
  movesClock: values.brief,
  ...(bug === undefined ? {} : { bug }),
  onFault: (struck) => say(describeFault(struck)),
  say,
  async onHistory(history) {
    if (values.history !== undefined) await saveHistory(values.history, history);
  },
  onEnd({ dir }, ended) {
    if (values.keep !== undefined) keep(values.keep, dir, ended);
  },
});
for (const line of describeReport(report)) say(line);
process.exit(report.violations.length === 0 ? 0 : 1);
