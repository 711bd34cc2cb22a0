/**
 * Milliseconds of the kernel's monotonic clock. All processes of a machine read the same clock, so
 * they can compare their times.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
