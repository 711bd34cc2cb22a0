import type { Command } from 'commander';

/**
 * Each group of `catalogue.ts` gets its commands from a file of `commands/`. To audit a change,
 * pass `context.by` to the store function of the change, or to `withAudit`.
 */

export interface CommandText {
  /** The description of the command: one line, without a full stop. */
  readonly does: string;
  readonly examples: readonly string[];
}

/** Only a command that asks for confirmation has `yes`. */
export interface CommandOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export function addCommand(group: Command, name: string, text: CommandText): Command {
  return describeCommand(group.command(name), text);
}

/**
 * Gives a command its description, its examples and `--json`. Use it instead of `addCommand` for a
 * group that is itself a command, such as `svc status`.
 */
export function describeCommand(command: Command, { does, examples }: CommandText): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return command
    .description(does)
    .option('--json', 'print JSON')
    .addHelpText('after', ['', `${title}:`, ...examples.map((line) => `  $ ${line}`)].join('\n'));
}

export function addYesOption(command: Command): Command {
  return command.option('--yes', 'do not ask for confirmation');
}
