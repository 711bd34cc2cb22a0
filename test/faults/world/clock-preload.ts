import { readFileSync } from 'node:fs';

/**
 * A file with the offset of this process's clock in milliseconds. The process reads it at its start
 * and at SIGUSR2. Without the file, the offset is 0.
 */
const file = process.env['FAULTS_CLOCK_FILE'];
const RealDate = Date;
const realNow = Date.now;
let offsetMs = 0;

function readOffset(): void {
  if (file === undefined) return;
  try {
    offsetMs = Number(readFileSync(file, 'utf8').trim() || 0);
  } catch {
    offsetMs = 0;
  }
}

readOffset();
process.on('SIGUSR2', readOffset);

const now = (): number => realNow.call(RealDate) + offsetMs;

// `performance.now()` is unchanged, because a monotonic clock does not jump.
globalThis.Date = new Proxy(RealDate, {
  construct(target, args: [], newTarget) {
    const given = args.length === 0 && offsetMs !== 0 ? [now()] : args;
    return Reflect.construct(target, given, newTarget);
  },
  apply: () => new RealDate(now()).toString(),
  get: (target, property, receiver) =>
    property === 'now' ? now : Reflect.get(target, property, receiver),
});
