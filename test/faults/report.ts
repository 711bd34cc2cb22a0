import { describeHistory, type HistoryReport } from '../history/check.ts';
import type { InjectedBug } from './injected-bugs/injected-bug.ts';

export interface StruckFault {
  readonly number: number;
  /** Seconds since the first fault. */
  readonly atSeconds: number;
  readonly kind: string;
  readonly name: string;
  /**
   * Milliseconds from the end of the fault until the system worked again. Undefined if that took
   * too long.
   */
  readonly recoveryMs: number | undefined;
}

export interface FaultsReport {
  readonly seed: number;
  readonly bug: InjectedBug | undefined;
  readonly struck: readonly StruckFault[];
  readonly loadSeconds: number;
  readonly restMs: number | undefined;
  readonly checks: readonly {
    readonly promise: string;
    readonly count: number;
    readonly violations: readonly string[];
  }[];
  /** The number of answers by kind. A key is a request and its answer, such as `create: 201`. */
  readonly answers: Readonly<Record<string, number>>;
  readonly applications: number;
  /** The number of applications that were answered with `201` or `200`. */
  readonly submissions: number;
  readonly violations: readonly string[];
  readonly history: HistoryReport;
}

export function describeFault({ number, atSeconds, name, recoveryMs }: StruckFault): string {
  const back =
    recoveryMs === undefined ? 'NOT RECOVERED' : `back in ${(recoveryMs / 1000).toFixed(2)} s`;
  return `#${`${number}`.padStart(3)}  ${atSeconds.toFixed(1).padStart(7)} s  ${back.padEnd(16)}  ${name}`;
}

const shownMax = 10;
const shownLengthMax = 900;

export function describeReport(report: FaultsReport): string[] {
  return [
    '',
    'faults by kind, with the median and longest time to recovery in seconds:',
    ...byKind(report.struck),
    '',
    'answers:',
    ...Object.entries(report.answers)
      .toSorted(byName)
      .map(([name, count]) => `  ${`${count}`.padStart(7)}  ${name}`),
    '',
    'audit:',
    ...report.checks.flatMap(({ promise, count, violations }) => [
      `  ${`${count}`.padStart(7)}  ${promise}${violations.length === 0 ? '' : `: ${violations.length} VIOLATIONS`}`,
      ...violations.slice(0, shownMax).map((one) => `           ${one.slice(0, shownLengthMax)}`),
    ]),
    '',
    verdict(report),
  ];
}

function byName([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : 1;
}

function byKind(struck: readonly StruckFault[]): string[] {
  const kinds = Map.groupBy(struck, ({ kind }) => kind);
  return [...kinds.keys()].toSorted().map((kind) => {
    const faults = kinds.get(kind) ?? [];
    const times = faults.flatMap(({ recoveryMs }) => recoveryMs ?? []).toSorted((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)] ?? Number.NaN;
    const most = times.at(-1) ?? Number.NaN;
    return `  ${`${faults.length}`.padStart(4)}  ${kind}: ${(median / 1000).toFixed(2)}, ${(most / 1000).toFixed(2)}`;
  });
}

function verdict(report: FaultsReport): string {
  const { struck, applications, submissions, checks, violations, seed, loadSeconds } = report;
  const looks = checks.reduce((sum, { count }) => sum + count, 0);
  const said = violations.length === 0 ? 'held' : 'BROKEN';
  return `${said}: ${struck.length} faults, ${applications} applications, ${submissions} submissions in ${loadSeconds.toFixed(0)} s, seed ${seed}; ${looks} checks, ${violations.length} violations; ${describeHistory(report.history)}`;
}
