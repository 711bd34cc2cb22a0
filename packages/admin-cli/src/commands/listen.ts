import {
  CommandError,
  type CommandSpec,
  environmentHelp,
  listenCommand,
  type OptionValues,
  runListen,
  runTrigger,
  triggerCommand,
} from '@svc/client/cli';
import type { Command } from 'commander';
import { describeCommand } from '../command.ts';
import { Refusal, WrongUsage } from '../refusal.ts';

/**
 * `svc listen` and `svc trigger` (CONTRACT 9). They reach the service only through its API, with a
 * tenant's key. So they need neither `DATABASE_URL` nor `SVC_OPERATOR_ID`.
 */

export function addListenCommand(command: Command): void {
  describe(command, listenCommand).action(() =>
    refused(runListen(valuesOf(command, listenCommand))),
  );
}

export function addTriggerCommand(command: Command): void {
  describe(command, triggerCommand).action((event: string | undefined) =>
    refused(runTrigger(event, valuesOf(command, triggerCommand))),
  );
}

function describe(command: Command, spec: CommandSpec): Command {
  const { does, examples, argument, options } = spec;
  describeCommand(command, { does, examples: examples.map((example) => `svc ${example}`) });
  command.addHelpText('after', `\n${environmentHelp}`);
  if (argument !== undefined) command.argument(`[${argument.name}]`, argument.does);
  for (const { name, value, does: effect } of options) {
    command.option(value === undefined ? `--${name}` : `--${name} <${value}>`, effect);
  }
  return command;
}

/**
 * Returns the values of `--json` and of the options in the command's spec. The keys are the names
 * in the spec. Commander's keys are in camel case.
 */
function valuesOf(command: Command, { options }: CommandSpec): OptionValues {
  const names = ['json', ...options.map(({ name }) => name)];
  const given: OptionValues = command.opts();
  return Object.fromEntries(
    names.map((name) => [
      name,
      given[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())],
    ]),
  );
}

async function refused(running: Promise<void>): Promise<void> {
  try {
    await running;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw error.exitCode === 2 ? new WrongUsage(error.message) : new Refusal(error.message);
  }
}
