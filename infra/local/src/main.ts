import { createCloser } from './closer.ts';
import { launch } from './launch.ts';
import { stateDir } from './paths.ts';
import { createProgress } from './progress.ts';
import { readSettings } from './settings.ts';
import { StartError } from './start-error.ts';

/** Further signals within this time are the same Ctrl-C: the terminal's, and npm's copy of it. */
const sameSignalMs = 1_000;
const parentPollMs = 1_000;

const closer = createCloser();
const progress = createProgress();
let stopAskedAtMs: number | undefined;

/** Ends everything that was started, the last first, and then this process. */
async function stop(exitCode: number): Promise<never> {
  try {
    await closer.close();
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    process.exit(1);
  }
  process.exit(exitCode);
}

function describe(error: unknown): string {
  if (error instanceof StartError) return `\n${error.message}\n${error.advice}`;
  return `\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

function fail(error: unknown): void {
  if (closer.isClosing) return;
  process.stderr.write(`${describe(error)}\n`);
  void stop(1);
}

function onSignal(): void {
  const nowMs = performance.now();
  stopAskedAtMs ??= nowMs;
  // Whoever asks a second time does not want to wait; the kernel ends the children with us.
  if (nowMs - stopAskedAtMs > sameSignalMs) process.exit(1);
  if (closer.isClosing) return;
  progress.print('\nEnding the stack; once more ends it at once.');
  void stop(0);
}

/** `npm start` may be killed without a signal of its own reaching us. */
function followParent(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onSignal();
  }, parentPollMs);
  timer.unref();
}

// A terminal that is gone must not keep us from ending things in order.
process.stdout.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
followParent();
try {
  await launch({
    settings: readSettings(process.env),
    env: process.env,
    dir: stateDir(),
    progress,
    closer,
    giveUp: fail,
    isWatching: process.argv.includes('--watch'),
  });
} catch (error) {
  fail(error);
}
