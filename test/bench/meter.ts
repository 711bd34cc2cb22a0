import { cpuSeconds, memoryMib } from './load/cpu.ts';
import { wakeUpsBetween, wakeUpsOf } from './load/wake-ups.ts';
import type { Sample } from './sample.ts';
import type { System } from './systems/system.ts';

type Usage = Pick<
  Sample,
  'cpuMicros' | 'totalCpuMicros' | 'wakeUps' | 'totalWakeUps' | 'walBytes' | 'memoryMib'
>;

/**
 * Starts to measure a system. Call the returned function at the end, with the number of submissions
 * since the start. It divides the usage by this number, but not the memory.
 */
export async function startMeter(system: System): Promise<(submissions: number) => Promise<Usage>> {
  const writtenBefore = await system.written();
  const wakeUpsBefore = wakeUpsOf(system.pids());
  const cpuBefore = cpuSeconds(system.pids());
  return async (submissions) => {
    const cpuMicros = perSubmission(cpuBefore, cpuSeconds(system.pids()), submissions);
    const wakeUps = divided(wakeUpsBetween(wakeUpsBefore, wakeUpsOf(system.pids())), submissions);
    const written = await system.written();
    return {
      cpuMicros,
      totalCpuMicros: totalOf(cpuMicros),
      wakeUps,
      totalWakeUps: totalOf(wakeUps),
      walBytes: (written.walBytes - writtenBefore.walBytes) / submissions,
      memoryMib: memoryMib(system.pids()),
    };
  };
}

/** The CPU microseconds per submission, by kind of process. `before` and `after` are in seconds. */
export function perSubmission(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  count: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [
      name,
      ((seconds - (before[name] ?? 0)) / count) * 1e6,
    ]),
  );
}

function divided(sums: Readonly<Record<string, number>>, by: number): Record<string, number> {
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / by]));
}

function totalOf(parts: Readonly<Record<string, number>>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}
