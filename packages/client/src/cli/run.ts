import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { SvcError } from '../errors.ts';
import { pause } from '../time-limit.ts';
import { type CommandContext, readCredentials } from './context.ts';
import { CommandError, explain } from './failure.ts';
import { listen } from './listen.ts';
import { listTriggers, trigger } from './trigger.ts';

/** This file runs the commands `listen` and `trigger`, both for `svc` and for `npx @svc/client`. */

export type { CommandSpec } from './commands.ts';
export { environmentHelp, listenCommand, triggerCommand } from './commands.ts';
export { CommandError } from './failure.ts';

/** The value of each option by its long name. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

const output = (values: OptionValues) => ({
  isJson: values['json'] === true,
  write: (line: string) => void process.stdout.write(`${line}\n`),
});

async function contextOf(values: OptionValues): Promise<CommandContext> {
  const stateHome = process.env['XDG_STATE_HOME'] || path.join(os.homedir(), '.local/state');
  return {
    ...(await readCredentials(process.env)),
    ...output(values),
    fetch: globalThis.fetch,
    now: Date.now,
    pause,
    stateDir: path.join(stateHome, 'svc'),
  };
}

/**
 * Runs `listen` until SIGINT or SIGTERM. A second signal of the same kind ends the process at once.
 */
export async function runListen(values: OptionValues): Promise<void> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const [forwardTo, events, name] = ['forward-to', 'events', 'name'].map((one) =>
      text(values[one]),
    );
    await explained(async () =>
      listen(await contextOf(values), { forwardTo, events, name }, controller.signal),
    );
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

export function runTrigger(event: string | undefined, values: OptionValues): Promise<void> {
  return explained(async () => {
    if (values['list'] === true) listTriggers(output(values));
    else await trigger(await contextOf(values), event);
  });
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof SvcError) throw new CommandError(explain(error));
    throw error;
  }
}
