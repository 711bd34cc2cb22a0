const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A short text for a duration: 12 ms, 1.2 s, 4 m 30 s, 2 h 5 m, 3 d 4 h. */
export function shortDuration(ms: number): string {
  if (ms < secondMs) return `${Math.round(ms)} ms`;
  if (ms < minuteMs) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < hourMs) return two(ms, minuteMs, 'm', secondMs, 's');
  if (ms < dayMs) return two(ms, hourMs, 'h', minuteMs, 'm');
  return two(ms, dayMs, 'd', hourMs, 'h');
}

function two(ms: number, unitMs: number, unit: string, restMs: number, rest: string): string {
  const whole = Math.floor(ms / unitMs);
  const left = Math.floor((ms % unitMs) / restMs);
  return left === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${left} ${rest}`;
}
