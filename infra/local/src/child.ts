import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

let setprivFound: boolean | undefined;

function hasSetpriv(): boolean {
  setprivFound ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0;
  return setprivFound;
}

/**
 * A command prefix that makes the kernel send `signal` to the command when its parent process ends,
 * even by `kill -9`. Empty without `setpriv` (macOS).
 */
export function dieWithParent(signal: 'INT' | 'TERM' | 'KILL'): string[] {
  return hasSetpriv() ? ['setpriv', '--pdeathsig', signal, '--'] : [];
}

/** True until the process ends. False for a process that could not be spawned. */
export function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/**
 * Sends the signal and waits for the end of the process. Kills the process if it has not ended
 * after `boundMs`. Does nothing if the process does not run.
 */
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

export function describeExit(child: ChildProcess): string {
  return child.signalCode ? `was ended by ${child.signalCode}` : `exited with ${child.exitCode}`;
}
