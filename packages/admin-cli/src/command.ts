import type { Command } from 'commander';

/**
 * How to write a command. A file of `commands/` adds its commands to a group of `catalogue.ts`.
 * Each command has a description, examples and `--json`. Most actions run in `withContext` and
 * print with `output.ts`. If such an action changes a row, it passes `context.by` to the store
 * function, which writes the audit entry in the same transaction. For other changes, `withAudit`
 * writes the audit entry.
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
 * Gives a command its description, its examples and the option `--json`. Use it instead of
 * `addCommand` for a group that is itself a command, such as `svc status`.
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
