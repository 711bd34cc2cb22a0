import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

let setprivFound: boolean | undefined;

function hasSetpriv(): boolean {
  setprivFound ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0;
  return setprivFound;
}

/**
 * The words to put before a command so that the kernel sends it `signal` when the process that
 * started it dies, however it dies: kill -9 of a launcher or a test leaves nothing behind.
 * Empty where the system has no such thing (macOS).
 */
export function dieWithParent(signal: 'INT' | 'TERM' | 'KILL'): string[] {
  return hasSetpriv() ? ['setpriv', '--pdeathsig', signal, '--'] : [];
}

/** Whether the process has not ended yet (a process that could not be spawned has). */
export function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Sends the signal and waits for the end; kills what has not ended after `boundMs`. */
export async function stopChild(
  child: ChildProcess,
  signal: NodeJS.Signals,
  boundMs: number,
): Promise<void> {
  if (!isAlive(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const bound = new AbortController();
  const tooLate = delay(boundMs, 'too late', { signal: bound.signal }).catch(() => 'exited');
  const first = await Promise.race([exited, tooLate]);
  bound.abort();
  if (first === 'too late') child.kill('SIGKILL');
  await exited;
}

/** How a process ended, in words for an error message. */
export function describeExit(child: ChildProcess): string {
  return child.signalCode ? `was ended by ${child.signalCode}` : `exited with ${child.exitCode}`;
}
