import type { LiveFault } from './faults.ts';

/** The seconds within which the alerts of a fault must fire. */
export const noticeSecondsMax = 60;

/** The alerts of one run. */
export interface Watched {
  /** The alerts that fired before the fault. */
  readonly quiet: readonly string[];
  /** The seconds from the fault to each alert. */
  readonly fired: ReadonlyMap<string, number>;
  /** The seconds from the end of the fault until its alerts had ended. Undefined if they did not. */
  readonly endedSeconds: number | undefined;
}

/** The faults of the alerts of a run, in words. */
export function alertFaults(
  { must, may }: Pick<LiveFault, 'must' | 'may'>,
  { quiet, fired, endedSeconds }: Watched,
): string[] {
  const late = must.filter((name) => (fired.get(name) ?? Infinity) > noticeSecondsMax);
  const foreign = [...fired.keys()].filter((name) => !must.includes(name) && !may.includes(name));
  return [
    ...quiet.map((name) => `${name} fired without a fault`),
    ...late.map((name) => `${name} did not fire within ${noticeSecondsMax} s`),
    ...foreign.map((name) => `${name} fired and does not belong to the fault`),
    ...(endedSeconds === undefined ? [`${must.join(', ')} did not end after the fault`] : []),
  ];
}
