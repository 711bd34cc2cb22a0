import type { LiveFault } from './faults.ts';

export const noticeSecondsMax = 60;

export interface Watched {
  readonly quiet: readonly string[];
  /** The seconds from the fault until an alert fired, by the name of the alert. */
  readonly fired: ReadonlyMap<string, number>;
  /**
   * The seconds from the repair of the fault until no alert of `LiveFault.must` fired any more.
   * Undefined if one of them still fired after two minutes.
   */
  readonly endedSeconds: number | undefined;
}

export function alertFaults(
  { must, may }: Pick<LiveFault, 'must' | 'may'>,
  { quiet, fired, endedSeconds }: Watched,
): string[] {
  const late = must.filter((name) => (fired.get(name) ?? Infinity) > noticeSecondsMax);
  const foreign = [...fired.keys()].filter((name) => !must.includes(name) && !may.includes(name));
  return [
    ...quiet.map((name) => `${name} fired before the fault`),
    ...late.map((name) => `${name} did not fire within ${noticeSecondsMax} s`),
    ...foreign.map((name) => `${name} fired, but the fault must not cause it`),
    ...(endedSeconds === undefined
      ? [`${must.join(' or ')} still fired two minutes after the repair`]
      : []),
  ];
}
