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
 * Meters the process tree of a browser every 500 ms, and calls `onMemory` with its memory in bytes.
 * If a process starts and ends between two readings, its memory does not count. But on Linux its
 * CPU time counts, because the time of its parent includes it.
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
      // The highest sum so far counts, because the sum may drop when a process ends. The processes
      // are read one after another, so one reading may miss the time of the ended process. On macOS
      // every later reading misses it too.
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
