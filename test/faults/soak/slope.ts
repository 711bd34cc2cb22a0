export interface Series {
  readonly name: string;
  readonly unit: 'MB' | '';
  readonly points: { readonly atSeconds: number; readonly value: number }[];
}

export interface Trend {
  readonly name: string;
  readonly unit: 'MB' | '';
  readonly first: number;
  readonly last: number;
  /** The slope of the least-squares line through all points, in the unit of the figure per hour. */
  readonly perHour: number;
  /** The rise of the least-squares line from the first to the last point, in the figure's unit. */
  readonly growth: number;
  readonly isFlat: boolean;
  readonly values: readonly number[];
}

const secondsPerHour = 3_600;
/**
 * A series is flat if it grows by at most this share of its mean plus the tolerance of its unit.
 * Garbage collections and single connections cause such changes.
 */
const toleranceShare = 0.1;
const tolerance = { MB: 12, '': 6 } as const;
/**
 * The last part of a series that is also judged alone: a third of the points. The series is flat if
 * this part grows by at most a third of the limit for the whole series. A rise that has ended is
 * not a leak, for example when V8 enlarges its young generation.
 */
const lastShare = 1 / 3;

/** `points` must have only the points after the warm-up. */
export function trendOf({ name, unit, points }: Series): Trend {
  const mean = meanOf(points.map(({ value }) => value));
  const growthMax = mean * toleranceShare + tolerance[unit];
  const { perSecond, growth } = lineThrough(points);
  const last = lineThrough(points.slice(-Math.ceil(points.length * lastShare)));
  return {
    name,
    unit,
    first: points[0]?.value ?? 0,
    last: points.at(-1)?.value ?? 0,
    perHour: perSecond * secondsPerHour,
    growth,
    isFlat: growth <= growthMax || last.growth <= growthMax * lastShare,
    values: points.map(({ value }) => value),
  };
}

/** The least-squares line: its slope, and its rise from the first to the last point. */
function lineThrough(points: Series['points']): { perSecond: number; growth: number } {
  const meanAt = meanOf(points.map(({ atSeconds }) => atSeconds));
  const mean = meanOf(points.map(({ value }) => value));
  let above = 0;
  let below = 0;
  for (const { atSeconds, value } of points) {
    above += (atSeconds - meanAt) * (value - mean);
    below += (atSeconds - meanAt) ** 2;
  }
  const perSecond = below === 0 ? 0 : above / below;
  return {
    perSecond,
    growth: perSecond * ((points.at(-1)?.atSeconds ?? 0) - (points[0]?.atSeconds ?? 0)),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
