import { createCloser } from './closer.ts';
import { launch } from './launch.ts';
import { stateDir } from './paths.ts';
import { createProgress } from './progress.ts';
import { readSettings } from './settings.ts';
import { StartError } from './start-error.ts';

/**
 * Signals within this time after the first signal count as the same Ctrl-C, because the terminal
 * and npm each send one.
 */
const sameSignalMs = 1_000;
const parentPollMs = 1_000;

const closer = createCloser();
const progress = createProgress();
let stopRequestedAtMs: number | undefined;

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
  stopRequestedAtMs ??= nowMs;
  // A second Ctrl-C exits at once. On Linux, the kernel then ends the child processes (see
  // `dieWithParent`).
  if (nowMs - stopRequestedAtMs > sameSignalMs) process.exit(1);
  if (closer.isClosing) return;
  progress.print('\nStopping the stack. Press Ctrl-C again to stop it at once.');
  void stop(0);
}

/**
 * Stops the stack when the `npm start` that started this process has ended, because npm may be
 * killed without passing on a signal.
 */
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

// The shutdown must also work if the terminal is gone.
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
