import { median } from '../quantile.ts';

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}

export const ratio = (one: number, other: number): string => {
  const value = one / other;
  return Number.isFinite(value) ? `${value.toFixed(2)} ×` : '–';
};

const text = (value: number): string => value.toFixed(2);

/**
 * The median, followed by the least and the greatest value if there are several values. `not held`
 * means that the median is infinite or NaN.
 */
export function spread(values: readonly number[], unit = ' ×'): string {
  if (values.length === 0) return '–';
  if (!Number.isFinite(median(values))) return 'not held';
  const middle = `${text(median(values))}${unit}`;
  if (values.length === 1) return middle;
  return `${middle} (${text(Math.min(...values))}–${text(Math.max(...values))})`;
}
