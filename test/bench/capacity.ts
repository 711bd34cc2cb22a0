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
