import { type Decimal, decimalOf, formatDecimal, parseDecimal } from './decimal.ts';

/** The units in which usage is metered (CONTRACT 4). */
export const usageUnits = [
  'nodeSeconds',
  'cpuSeconds',
  'memoryGbSeconds',
  'bandwidthMb',
  'actions',
] as const;
export type UsageUnit = (typeof usageUnits)[number];

/**
 * The usage that a node metered, or that is typical for a job type. A unit without a known amount
 * is missing.
 */
export type Usage = Partial<Record<UsageUnit, Decimal>>;

/** Usage as a rate card stores it: exact decimals as strings. */
export type UsageJson = Partial<Record<UsageUnit, string>>;

export function isUsageUnit(name: string): name is UsageUnit {
  return (usageUnits as readonly string[]).includes(name);
}

function parseAmount(value: unknown): Decimal | undefined {
  // A JSON number was rounded to a double when it was parsed. If the sender wrote at most 15
  // digits, `String` gives the same value again: 0.1 becomes `0.1`. All later steps are exact.
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const decimal = parseDecimal(String(value));
  return decimal === undefined || decimal.digits < 0n ? undefined : decimal;
}

/**
 * Parses amounts by unit, such as `{"actions": 3, "cpuSeconds": "1.5"}`. Undefined for anything
 * else, such as an unknown unit or a negative amount.
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

export function usageToJson(usage: Usage): UsageJson {
  const json: UsageJson = {};
  for (const unit of usageUnits) {
    const amount = usage[unit];
    if (amount !== undefined) json[unit] = formatDecimal(amount);
  }
  return json;
}

/**
 * Usage as the JSON numbers of the wire. A number may be less exact than its decimal, so use it
 * only for output.
 */
export function usageToNumbers(usage: Usage): Partial<Record<UsageUnit, number>> {
  const numbers: Partial<Record<UsageUnit, number>> = {};
  for (const unit of usageUnits) {
    const amount = usage[unit];
    if (amount !== undefined) numbers[unit] = Number(formatDecimal(amount));
  }
  return numbers;
}

export function secondsOfMs(milliseconds: bigint): Decimal {
  return decimalOf(milliseconds, 3);
}
