import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, dieWithParent } from './child.ts';
import { checkoutDir } from './paths.ts';

/** A command ended with something else than 0; `message` has what it said. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export interface CommandOptions {
  /** The whole environment; this process's own where left out. */
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const timeoutMsByDefault = 300_000;

/**
 * Runs a command to its end in the checkout and returns its standard output. It is not reached by
 * Ctrl-C on the terminal, and dies with this process.
 * Throws CommandError where it fails, cannot be run or takes longer than `timeoutMs`.
 */
export async function runCommand(
  command: readonly string[],
  { env = process.env, timeoutMs = timeoutMsByDefault }: CommandOptions = {},
): Promise<string> {
  const [file = '', ...args] = [...dieWithParent('KILL'), ...command];
  const child = spawn(file, args, {
    cwd: checkoutDir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const bound = new AbortController();
  void delay(timeoutMs, undefined, { signal: bound.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  );
  try {
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (child.exitCode === 0) return stdout;
    const said = `${stderr}${stdout}`.trim();
    throw new CommandError(`${command.join(' ')} ${describeExit(child)}\n${said}`);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${command.join(' ')} could not be run`, { cause: error });
  } finally {
    bound.abort();
  }
}
