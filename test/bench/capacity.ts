/**
 * The part of the machine's CPU that the product gets in the bench. The driver, the nodes and the
 * endpoint take the rest.
 */
export const productsPart = 0.82;

/**
 * The model of capacity (docs/SCALING.md): submissions a second, if the CPU is the limit. `cores` are
 * those that the processes may use fully.
 */
export function capacityOf(cores: number, cpuSecondsPerThousand: number): number {
  return (cores * 1_000) / cpuSecondsPerThousand;
}

/** The CPU of a submission, in seconds per 1,000, is `perSubmission + perBatch ÷ in flight in a process`. */
export interface Cost {
  readonly perSubmission: number;
  /** The work of a batch. A process has a batch of each kind under way, whatever its size. */
  readonly perBatch: number;
}

/** A closed loop: submissions in flight in each process, and CPU-seconds per 1,000. */
export interface CostPoint {
  readonly inFlight: number;
  readonly cpuSecondsPerThousand: number;
}

/** The cost that fits two loops with one process of each service. */
export function fitCost(many: CostPoint, few: CostPoint): Cost {
  const perBatch =
    (few.cpuSecondsPerThousand - many.cpuSecondsPerThousand) /
    (1 / few.inFlight - 1 / many.inFlight);
  return { perBatch, perSubmission: many.cpuSecondsPerThousand - perBatch / many.inFlight };
}

/** CPU-seconds per 1,000 if `processes` of each service share `inFlight` submissions. */
export function costOf(cost: Cost, inFlight: number, processes: number): number {
  return cost.perSubmission + (cost.perBatch * processes) / inFlight;
}

/**
 * The loops of the notebook's full run (docs/lab/performance.md). A whole life at half load has 22 in
 * flight: 357 a second for 61 ms.
 */
export const costs = {
  created: fitCost(
    { inFlight: 64, cpuSecondsPerThousand: 0.83 },
    { inFlight: 16, cpuSecondsPerThousand: 1.61 },
  ),
  life: fitCost(
    { inFlight: 64, cpuSecondsPerThousand: 2.4 },
    { inFlight: 22, cpuSecondsPerThousand: 4.95 },
  ),
} as const;

export interface Compared {
  readonly name: string;
  readonly model: number;
  readonly measured: number;
}

export const deviationMax = 0.2;

/** The last line of the parts about several of each service: the verdict on the model. */
export function capacityVerdict(compared: readonly Compared[]): string {
  const rows = compared.map(({ name, model, measured }) => {
    const percent = (model / measured - 1) * 100;
    return `${name} ${model.toFixed(2)} against ${measured.toFixed(2)} (${percent.toFixed(0)} %)`;
  });
  const holds = compared.every(
    ({ model, measured }) => Math.abs(model / measured - 1) < deviationMax,
  );
  return `model of capacity: ${holds && compared.length > 0 ? 'held' : 'BROKEN'}: ${rows.join(', ')}`;
}

export interface MeasuredShape {
  readonly name: string;
  readonly perSecond: number;
  readonly cpuSecondsPerThousand: number;
}

/** The rows of the lab notebook with a rate and the CPU by service, from closed loops that fill the machine. */
export function measuredShapes(notebook: string): MeasuredShape[] {
  const row = /^\| (.+, \d\d in flight.*: \w+) \| ([\d,]+) \|.*\| ([\d.]+) \(gateway/gmu;
  return [...notebook.matchAll(row)].map(([, name = '', rate = '', cpu = '']) => ({
    name,
    perSecond: Number(rate.replaceAll(',', '')),
    cpuSecondsPerThousand: Number(cpu),
  }));
}
