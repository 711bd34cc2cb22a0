import { parseArgs } from 'node:util';
import { orderBugs } from './injected-bugs/catalogue.ts';
import { runOne, type RunReport } from './run.ts';
import { openServers } from './servers.ts';

const traceLinesMax = 400;

/**
 * `pnpm interleave`: executes the runs that the options select, then prints the verdict. Resolves
 * with the exit code, which is 1 after a violation.
 */
export async function interleave(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '200' },
      seed: { type: 'string' },
      steps: { type: 'string', default: '250' },
      // Runs the seeds with which the injected bugs were found, but without the bugs.
      catalogue: { type: 'boolean', default: false },
      hashes: { type: 'boolean', default: false },
      // Also prints the traces of the runs without a violation.
      trace: { type: 'boolean', default: false },
      // Does not stop after a run with a violation.
      'keep-going': { type: 'boolean', default: false },
      postgres: { type: 'string' },
      service: { type: 'string' },
      template: { type: 'string' },
      // The name of an action to make frequent, or `faults` for more faults.
      focus: { type: 'string' },
      // The name of an injected bug. host/hooks.ts puts the bug into the product. Without `seed`,
      // the command runs only the bug's own seed.
      bug: { type: 'string' },
    },
  });
  const servers = await openServers(values);
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const reports: RunReport[] = [];
  try {
    for (const { seed, focus } of runsOf(values)) {
      const { rig, stateDir } = servers;
      const report = await runOne(rig, { seed, steps: Number(values.steps), stateDir, focus });
      reports.push({ ...report, trace: [] });
      if (values.hashes) print(`${seed} ${report.hash}`);
      if (report.violations.length > 0) show(report);
      else if (values.trace) for (const line of report.trace) print(line);
      if (report.violations.length > 0 && !values['keep-going']) break;
    }
  } finally {
    await servers.close();
  }
  const { user, system } = process.cpuUsage(startedCpu);
  const cpuMs = Math.round((user + system) / 1_000 / reports.length);
  print(`this process used ${cpuMs} ms of CPU time per run`);
  return verdict(reports, performance.now() - startedMs);
}

interface Wanted {
  readonly seed: number;
  readonly focus: string | undefined;
}

function runsOf(values: {
  readonly seed?: string | undefined;
  readonly focus?: string | undefined;
  readonly runs: string;
  readonly catalogue: boolean;
  readonly bug?: string | undefined;
}): readonly Wanted[] {
  if (values.catalogue) return orderBugs;
  const bug = orderBugs.find(({ name }) => name === values.bug);
  if (bug !== undefined && values.seed === undefined) return [bug];
  const first = Number(values.seed ?? Date.now() % 1_000_000);
  const focus = values.focus ?? bug?.focus;
  return Array.from({ length: Number(values.runs) }, (_, index) => ({
    seed: first + index,
    focus,
  }));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function show({ seed, violations, trace }: RunReport): void {
  for (const line of trace.slice(-traceLinesMax)) print(line);
  for (const violation of violations) print(`seed ${seed}: ${violation}`);
}

function verdict(reports: readonly RunReport[], tookMs: number): number {
  const sum = (valueOf: (report: RunReport) => number): number =>
    reports.reduce((total, report) => total + valueOf(report), 0);
  const ended = new Map<string, number>();
  for (const report of reports)
    for (const [state, count] of report.ended) ended.set(state, (ended.get(state) ?? 0) + count);
  const violated = reports.filter(({ violations }) => violations.length > 0);
  const perMinute = Math.round((reports.length * 60_000) / tookMs);
  print(
    `${sum(({ submissions }) => submissions)} submissions: ${[...ended]
      .map(([state, count]) => `${count} ${state}`)
      .toSorted()
      .join(', ')}; ` +
      `${sum(({ executed }) => executed)} executed, ${sum(({ lockWaits }) => lockWaits)} waits for a lock`,
  );
  print(
    `${reports.length} runs, ${sum(({ steps }) => steps)} steps, ${perMinute} runs a minute, ` +
      `${violated.length} violations${violated.map(({ seed }) => ` (seed ${seed})`).join('')}`,
  );
  return violated.length === 0 ? 0 : 1;
}
