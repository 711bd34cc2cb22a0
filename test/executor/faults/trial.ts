import type { Ats } from '../employers/behaviours.ts';
import { openLane } from './lane.ts';
import type { Ended } from './link-end.ts';
import { planRun } from './plan.ts';
import { runTogether, type RunReport } from './run.ts';

export interface TrialOptions {
  readonly runs: number;
  readonly seed: number;
  readonly lanes: number;
  /**
   * The number of runs that share an agent at the same time. A kill of the agent hits all of them.
   */
  readonly slots: number;
  readonly binary: string;
  readonly bundle: string;
  /**
   * The name of an injected bug. With a bug, the agent starts from its source instead of `bundle`.
   */
  readonly bug?: string;
  readonly endsWhenBroken?: boolean;
  readonly onViolation?: (line: string) => void;
}

export interface TrialReport {
  readonly runs: number;
  readonly violations: readonly string[];
  /** The number of runs for each end, such as `completed` or `node_error, not submitted`. */
  readonly ends: ReadonlyMap<string, number>;
  /**
   * The number of runs whose application had arrived when the run was checked. A later arrival is a
   * violation.
   */
  readonly received: number;
}

/**
 * The assumed duration of a run, until its lane (an agent and its employers) has measured an
 * undisturbed run with the same ATS.
 */
const usualMsDefault = 2_500;

export function describeEnd(ended: Ended): string {
  if (ended.type !== 'failed') return ended.type;
  const { code, submitted } = ended.failure;
  return submitted === false ? `${code}, not submitted` : code;
}

/**
 * Checks the promises of CONTRACT 10, "At most once", in runs, most of which are disturbed. Also
 * checks that the agent leaves no personal data in its files and logs.
 */
export async function runTrial(options: TrialOptions): Promise<TrialReport> {
  const { runs, seed, lanes, slots } = options;
  const reports = new Map<number, RunReport>();
  const violations: string[] = [];
  let next = 0;
  const isOver = (): boolean =>
    next >= runs || (options.endsWhenBroken === true && violations.length > 0);
  const note = (run: number, report: RunReport, lines: readonly string[]): void => {
    for (const line of lines) {
      const text = `run ${run} with the plan ${JSON.stringify(report.plan)} ended as ${describeEnd(report.ended)}: ${line}`;
      violations.push(text);
      options.onViolation?.(text);
    }
  };
  const work = async (): Promise<void> => {
    const lane = await openLane(options);
    const usual = new Map<Ats, number>();
    try {
      while (!isOver()) {
        const first = next;
        next = Math.min(first + slots, runs);
        const planned = Array.from({ length: next - first }, (_, index) => {
          const plan = planRun(seed, first + index);
          const usualMs = usual.get(plan.ats) ?? usualMsDefault;
          return { plan, tag: `S${seed}R${first + index}E`, usualMs };
        });
        const together = await runTogether(lane, planned);
        const isDisturbed = planned[0]?.plan.target !== 'none';
        for (const [index, report] of together.entries()) {
          if (!isDisturbed) usual.set(report.plan.ats, report.durationMs);
          reports.set(first + index, report);
          note(first + index, report, report.violations);
        }
      }
    } finally {
      await lane.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, runs) }, work));
  for (const [run, report] of reports) {
    const later = report.countAgain() - report.received;
    if (later > 0) note(run, report, [`${later} applications arrived after the outcome`]);
  }
  const ends = new Map<string, number>();
  for (const { ended } of reports.values()) {
    const key = describeEnd(ended);
    ends.set(key, (ends.get(key) ?? 0) + 1);
  }
  return {
    runs: reports.size,
    violations,
    ends,
    received: [...reports.values()].filter(({ received }) => received > 0).length,
  };
}
