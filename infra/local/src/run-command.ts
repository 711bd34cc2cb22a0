import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, dieWithParent } from './child.ts';
import { checkoutDir } from './paths.ts';

/** The error of `runCommand`. If the command was started, `message` contains its output. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export interface CommandOptions {
  /** The whole environment of the command. The default is the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const timeoutMsDefault = 300_000;

/**
 * Runs a command in the checkout and returns its standard output. Throws CommandError if the
 * command fails, cannot be started or takes longer than `timeoutMs`.
 */
export async function runCommand(
  command: readonly string[],
  { env = process.env, timeoutMs = timeoutMsDefault }: CommandOptions = {},
): Promise<string> {
  const [file = '', ...args] = [...dieWithParent('KILL'), ...command];
  const child = spawn(file, args, {
    cwd: checkoutDir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The command gets its own process group. Ctrl-C on the terminal then does not reach it.
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
    const output = `${stderr}${stdout}`.trim();
    throw new CommandError(`${command.join(' ')} ${describeExit(child)}\n${output}`);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${command.join(' ')} could not be started`, { cause: error });
  } finally {
    bound.abort();
  }
}
