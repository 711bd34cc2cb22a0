import { memoryBytesOf, type ProcessReading, readProcessTable } from './process-table.ts';
import { treeOf } from './process-tree.ts';

/** The usage of a browser since its start. A GB has 10⁹ bytes. */
export interface BrowserUsage {
  readonly cpuSeconds: number;
  readonly memoryGbSeconds: number;
  readonly peakPssBytes: number;
}

export interface UsageMeter {
  read(): BrowserUsage;
  /** Ends the periodic readings. `read` still works. */
  stop(): void;
}

const sampleMs = 500;
const bytesPerGb = 1e9;

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/**
 * Calls `onMemory` every 500 ms with the memory of the process tree in bytes. A process that starts
 * and ends between two readings adds no memory.
 */
export function meterUsage(root: ProcessReading, onMemory: (bytes: number) => void): UsageMeter {
  let usage: BrowserUsage = { cpuSeconds: 0, memoryGbSeconds: 0, peakPssBytes: 0 };
  let last: Sample = { atMs: performance.now(), bytes: 0 };
  const read = (): BrowserUsage => {
    const tree = treeOf(root, readProcessTable());
    const bytes = memoryBytesOf(tree.map(({ pid }) => pid));
    const atMs = performance.now();
    const gbSeconds = (((last.bytes + bytes) / 2) * (atMs - last.atMs)) / 1_000 / bytesPerGb;
    usage = {
      // The sum may drop, because a reading can miss the CPU time of a process that has just ended.
      // So the highest sum counts.
      cpuSeconds: Math.max(usage.cpuSeconds, sumOfCpu(tree)),
      memoryGbSeconds: usage.memoryGbSeconds + gbSeconds,
      peakPssBytes: Math.max(usage.peakPssBytes, bytes),
    };
    last = { atMs, bytes };
    return usage;
  };
  const timer = setInterval(() => {
    read();
    onMemory(last.bytes);
  }, sampleMs);
  timer.unref();
  read();
  return { read, stop: () => clearInterval(timer) };
}

function sumOfCpu(tree: readonly ProcessReading[]): number {
  return tree.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}
