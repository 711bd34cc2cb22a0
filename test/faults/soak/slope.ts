export interface Series {
  readonly name: string;
  readonly unit: 'MiB' | '';
  readonly points: { readonly atSeconds: number; readonly value: number }[];
}

export interface Trend {
  readonly name: string;
  readonly unit: 'MiB' | '';
  readonly first: number;
  readonly last: number;
  /** The slope of the least-squares line through all points, in `unit` per hour. */
  readonly perHour: number;
  /** The rise of the least-squares line from the first to the last point, in `unit`. */
  readonly growth: number;
  readonly isFlat: boolean;
  readonly values: readonly number[];
}

const secondsPerHour = 3_600;
/** A flat series grows by at most this share of its mean, plus the `tolerance` of its unit. */
const toleranceShare = 0.1;
const tolerance = { MiB: 12, '': 6 } as const;

/** Computes the trend of a series. The series must have no points of the warm-up. */
export function trendOf({ name, unit, points }: Series): Trend {
  const count = Math.max(1, points.length);
  const meanAt = points.reduce((sum, { atSeconds }) => sum + atSeconds, 0) / count;
  const mean = points.reduce((sum, { value }) => sum + value, 0) / count;
  let above = 0;
  let below = 0;
  for (const { atSeconds, value } of points) {
    above += (atSeconds - meanAt) * (value - mean);
    below += (atSeconds - meanAt) ** 2;
  }
  const perSecond = below === 0 ? 0 : above / below;
  const first = points[0];
  const last = points.at(-1);
  const growth = perSecond * ((last?.atSeconds ?? 0) - (first?.atSeconds ?? 0));
  return {
    name,
    unit,
    first: first?.value ?? 0,
    last: last?.value ?? 0,
    perHour: perSecond * secondsPerHour,
    growth,
    isFlat: growth <= mean * toleranceShare + tolerance[unit],
    values: points.map(({ value }) => value),
  };
}
