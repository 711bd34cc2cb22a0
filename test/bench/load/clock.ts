/**
 * Milliseconds of the kernel's monotonic clock. All processes of a machine read the same clock. One
 * process can therefore send an instant to another.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
