import { readFileSync } from 'node:fs';

/**
 * The path of a file with an offset in milliseconds, by which this module moves the clock of its
 * process. Without the file, the clock is right. The module is loaded into each service and node
 * before its code (`node --import`). The process reads the file at its start and at SIGUSR2, so its
 * clock can jump while it runs. `performance.now()` is unchanged, because a monotonic clock does
 * not jump.
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

globalThis.Date = new Proxy(RealDate, {
  construct(target, args: [], newTarget) {
    const given = args.length === 0 && offsetMs !== 0 ? [now()] : args;
    return Reflect.construct(target, given, newTarget);
  },
  apply: () => new RealDate(now()).toString(),
  get: (target, property, receiver) =>
    property === 'now' ? now : Reflect.get(target, property, receiver),
});
