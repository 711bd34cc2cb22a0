import { median } from '../quantile.ts';
import { isHeld, type Percentiles, type Sample } from '../sample.ts';

/**
 * Returns the median of each figure, computed separately. The memory is the exception: it is taken
 * from the last sample.
 */
export function medianOf(samples: readonly Sample[]): Sample {
  const of = (figure: (sample: Sample) => number): number => median(samples.map(figure));
  const last = samples.at(-1);
  const percentiles = (pick: (sample: Sample) => Percentiles | undefined) => {
    const some = samples.flatMap((sample) => pick(sample) ?? []);
    return some.length === 0 ? undefined : medianPercentiles(some);
  };
  const parts = (pick: (sample: Sample) => Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.keys(last === undefined ? {} : pick(last)).map((name) => [
        name,
        of((sample) => pick(sample)[name] ?? 0),
      ]),
    );
  const notified = percentiles((sample) => sample.notified);
  const firstWebhook = percentiles((sample) => sample.firstWebhook);
  const backlogs = samples.flatMap(({ backlog }) => backlog ?? []);
  const [{ duePerSecond } = { duePerSecond: 0 }] = backlogs;
  const ofBacklogs = (figure: (backlog: (typeof backlogs)[number]) => number): number =>
    median(backlogs.map(figure));
  return {
    perSecond: of(({ perSecond }) => perSecond),
    created: of(({ created }) => created),
    refused: of(({ refused }) => refused),
    answered: medianPercentiles(samples.map(({ answered }) => answered)),
    ...(notified === undefined ? {} : { notified }),
    ...(firstWebhook === undefined ? {} : { firstWebhook }),
    cpuMicros: parts(({ cpuMicros }) => cpuMicros),
    totalCpuMicros: of(({ totalCpuMicros }) => totalCpuMicros),
    wakeUps: parts(({ wakeUps }) => wakeUps),
    totalWakeUps: of(({ totalWakeUps }) => totalWakeUps),
    walBytes: of(({ walBytes }) => walBytes),
    memoryMib: last?.memoryMib ?? {},
    ...(backlogs.length === 0
      ? {}
      : {
          backlog: {
            duePerSecond,
            unanswered: ofBacklogs(({ unanswered }) => unanswered),
            unnotified: ofBacklogs(({ unnotified }) => unnotified),
            // The median of booleans is true if more than half of them are true.
            isAbandoned:
              backlogs.filter(({ isAbandoned }) => isAbandoned).length * 2 > backlogs.length,
            lateP99Ms: ofBacklogs(({ lateP99Ms }) => lateP99Ms),
          },
        }),
  };
}

function medianPercentiles(some: readonly Percentiles[]): Percentiles {
  const of = (figure: (one: Percentiles) => number): number => median(some.map(figure));
  return {
    p50Ms: of(({ p50Ms }) => p50Ms),
    p95Ms: of(({ p95Ms }) => p95Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
  };
}

/**
 * Divides, in each round, the figure of the first system by the figure of the system at index
 * `other`.
 */
export function ratiosOf(
  samples: readonly (readonly Sample[])[],
  figure: (sample: Sample) => number,
  other = 1,
): number[] {
  return (samples[0] ?? []).flatMap((one, round) => {
    const compared = samples[other]?.[round];
    if (compared === undefined) return [];
    return [figure(one) / figure(compared)];
  });
}

/**
 * Like `ratiosOf`, for a latency. The ratio of a round is infinite if `isHeld` is false for the
 * first system's sample of this round.
 */
export function latencyRatiosOf(
  samples: readonly (readonly Sample[])[],
  latencyMs: (sample: Sample) => number,
  other = 1,
): number[] {
  const ratios = ratiosOf(samples, latencyMs, other);
  return ratios.map((ratio, round) => {
    const one = samples[0]?.[round];
    return one === undefined || isHeld(one) ? ratio : Number.POSITIVE_INFINITY;
  });
}
