import type { MeteredUsage } from '../../../executor.ts';

const bytesPerMb = 1e6;
/**
 * Before `finish`, the meter reads the process tree at most once in this time, because a reading
 * costs CPU.
 */
const readingMsMin = 400;

export interface MeterSources {
  readonly meter: { record(usage: MeteredUsage): void };
  readonly bytes: () => { readonly sentBytes: number; readonly receivedBytes: number };
  readonly usage: () => Promise<{ readonly cpuSeconds: number; readonly memoryGbSeconds: number }>;
}

/**
 * Counts what one job uses (CONTRACT 10, "Metering"). Before `finish`, it reports only when the
 * work advanced.
 */
export interface JobMeter {
  /** Counts one filled field, click, upload or navigation, and reports usage. */
  action(): void;
  /** Reports usage without a new action, for example after a page has loaded. */
  advance(): void;
  /**
   * Reads and reports the usage of the whole job. If the process tree cannot be read, reports only
   * bandwidth and actions. Call `finish` when the work has ended.
   */
  finish(): Promise<void>;
}

export function createJobMeter({ meter, bytes, usage }: MeterSources): JobMeter {
  let actions = 0;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    readAtMs = performance.now();
    const { sentBytes, receivedBytes } = bytes();
    const bandwidthMb = (sentBytes + receivedBytes) / bytesPerMb;
    try {
      const { cpuSeconds, memoryGbSeconds } = await usage();
      meter.record({ cpuSeconds, memoryGbSeconds, bandwidthMb, actions });
    } catch {
      meter.record({ bandwidthMb, actions });
    }
  };
  const advance = (): void => {
    if (reading !== undefined || performance.now() - readAtMs < readingMsMin) {
      // A report without a new reading still renews the lease.
      meter.record({ actions });
      return;
    }
    reading = read().finally(() => {
      reading = undefined;
    });
  };
  return {
    action() {
      actions += 1;
      advance();
    },
    advance,
    async finish() {
      await reading;
      await read();
    },
  };
}
