import { type Decimal, decimalOf, formatDecimal, parseDecimal } from './decimal.ts';

/** Units of metered usage and of a rate's weights (CONTRACT 4). */
export const usageUnits = [
  'nodeSeconds',
  'cpuSeconds',
  'memoryGbSeconds',
  'bandwidthMb',
  'actions',
] as const;
export type UsageUnit = (typeof usageUnits)[number];

/** What a node has metered, or what a job type typically takes. A unit left out was not reported. */
export type Usage = Partial<Record<UsageUnit, Decimal>>;

/** How usage is stored: exact decimals as strings. */
export type UsageJson = Partial<Record<UsageUnit, string>>;

export function isUsageUnit(name: string): name is UsageUnit {
  return (usageUnits as readonly string[]).includes(name);
}

function parseAmount(value: unknown): Decimal | undefined {
  // The shortest text of a number that came from JSON is the text the sender wrote, as far as a
  // double could hold it; what is kept from here on is exact.
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const decimal = parseDecimal(String(value));
  return decimal === undefined || decimal.digits < 0n ? undefined : decimal;
}

/**
 * Usage of an object with an amount per unit, each a JSON number or a decimal string.
 * Undefined where there is an unknown unit or an amount that is none or is negative. However
 * much it is, and however fine: what it is worth is bounded by the price alone.
 */
export function parseUsage(json: unknown): Usage | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const usage: Usage = {};
  for (const [unit, value] of Object.entries(json)) {
    const amount = parseAmount(value);
    if (!isUsageUnit(unit) || amount === undefined) return undefined;
    usage[unit] = amount;
  }
  return usage;
}

/** The form that is stored; `parseUsage` reads it back. */
export function usageToJson(usage: Usage): UsageJson {
  const json: UsageJson = {};
  for (const unit of usageUnits) {
    const amount = usage[unit];
    if (amount !== undefined) json[unit] = formatDecimal(amount);
  }
  return json;
}

/** Usage as the JSON numbers of the wire; for printing alone. */
export function usageToNumbers(usage: Usage): Partial<Record<UsageUnit, number>> {
  const numbers: Partial<Record<UsageUnit, number>> = {};
  for (const unit of usageUnits) {
    const amount = usage[unit];
    if (amount !== undefined) numbers[unit] = Number(formatDecimal(amount));
  }
  return numbers;
}

/** Seconds, exactly, of whole milliseconds by the service's clock. */
export function secondsOfMs(milliseconds: bigint): Decimal {
  return decimalOf(milliseconds, 3);
}
