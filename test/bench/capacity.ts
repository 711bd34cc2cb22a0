/**
 * The share of the machine's CPU that the product gets in the bench. The driver, the nodes and the
 * webhook endpoint take the rest.
 */
export const productsPart = 0.82;

/**
 * The model of capacity (docs/SCALING.md): submissions per second when the CPU is the limit.
 * `cores` is the number of cores that the processes can use fully.
 */
export function capacityOf(cores: number, cpuSecondsPerThousand: number): number {
  return (cores * 1_000) / cpuSecondsPerThousand;
}

/**
 * Costs in CPU-seconds. The model is that a process handles all its submissions in flight as one
 * batch.
 */
export interface Cost {
  readonly perThousandSubmissions: number;
  /**
   * The cost of 1,000 batches, without the cost of their submissions. It is the same for batches of
   * any size.
   */
  readonly perThousandBatches: number;
}

/** A measured load. `inFlight` is the number of submissions in flight in each process. */
export interface CostPoint {
  readonly inFlight: number;
  readonly cpuSecondsPerThousand: number;
}

/**
 * Returns the cost that fits two measured loads exactly. In both, one process of each service ran.
 */
export function fitCost(many: CostPoint, few: CostPoint): Cost {
  // For each load, the cost is `perThousandSubmissions + perThousandBatches ÷ inFlight`.
  const perThousandBatches =
    (few.cpuSecondsPerThousand - many.cpuSecondsPerThousand) /
    (1 / few.inFlight - 1 / many.inFlight);
  const perThousandSubmissions = many.cpuSecondsPerThousand - perThousandBatches / many.inFlight;
  return { perThousandSubmissions, perThousandBatches };
}

/**
 * Returns the CPU-seconds per 1,000 submissions. `processes` is the number of processes of each
 * service. They share the `inFlightInAll` submissions in flight.
 */
export function costOf(cost: Cost, inFlightInAll: number, processes: number): number {
  return cost.perThousandSubmissions + (cost.perThousandBatches * processes) / inFlightInAll;
}

/** The costs of a creation and of a whole life, from docs/lab/performance.md. */
export const costs = {
  created: fitCost(
    { inFlight: 64, cpuSecondsPerThousand: 0.83 },
    { inFlight: 16, cpuSecondsPerThousand: 1.61 },
  ),
  life: fitCost(
    { inFlight: 64, cpuSecondsPerThousand: 2.4 },
    // From "whole life at half load": 357 a second × a median of 61 ms ≈ 22 in flight.
    { inFlight: 22, cpuSecondsPerThousand: 4.95 },
  ),
} as const;

export interface Compared {
  readonly name: string;
  readonly model: number;
  readonly measured: number;
}

export const deviationMax = 0.2;

export function capacityVerdict(compared: readonly Compared[]): string {
  const rows = compared.map(({ name, model, measured }) => {
    const percent = (model / measured - 1) * 100;
    return `${name}: model ${model.toFixed(2)}, measured ${measured.toFixed(2)} (${percent.toFixed(0)} %)`;
  });
  const holds = compared.every(
    ({ model, measured }) => Math.abs(model / measured - 1) < deviationMax,
  );
  const verdict = holds && compared.length > 0 ? 'held' : 'BROKEN';
  const limit = `the model must be within ${deviationMax * 100} % of each measured ratio`;
  return `model of capacity: ${verdict} (${limit}): ${rows.join(', ') || 'no ratio was measured'}`;
}

export interface MeasuredShape {
  readonly name: string;
  readonly perSecond: number;
  readonly cpuSecondsPerThousand: number;
}

/**
 * Reads those table rows of `notebook` that have the rate and the CPU-seconds per 1,000 submissions
 * of a closed loop with 10 to 99 requests in flight. Skips all other rows.
 */
export function measuredShapes(notebook: string): MeasuredShape[] {
  const row = /^\| (.+, \d\d in flight.*: \w+) \| ([\d,]+) \|.*\| ([\d.]+) \(gateway/gmu;
  return [...notebook.matchAll(row)].map(([, name = '', rate = '', cpu = '']) => ({
    name,
    perSecond: Number(rate.replaceAll(',', '')),
    cpuSecondsPerThousand: Number(cpu),
  }));
}
