import type { Command } from 'commander';

/**
 * How to write a command. A file of `commands/` adds its commands to a group of `catalogue.ts`.
 * Each command has a description, examples and `--json`. Its action runs in `withContext` and
 * prints with `output.ts`. If the command changes something, the action passes `context.by` to the
 * store function, which writes the audit log in the same transaction.
 */

export interface CommandText {
  /** A line that says what the command does, without a full stop. */
  readonly does: string;
  /** Whole command lines, `svc …`. */
  readonly examples: readonly string[];
}

/** The options that commands share. Only a command that asks for confirmation has `yes`. */
export interface CommandOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Adds a command to a group: `addCommand(tenant, 'show', …)` is `svc tenant show`. */
export function addCommand(group: Command, name: string, text: CommandText): Command {
  return describeCommand(group.command(name), text);
}

/**
 * Adds the description, the examples and `--json` to a command. A group that is a command itself,
 * such as `svc status`, calls it directly.
 */
export function describeCommand(command: Command, { does, examples }: CommandText): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return command
    .description(does)
    .option('--json', 'print JSON')
    .addHelpText('after', ['', `${title}:`, ...examples.map((line) => `  $ ${line}`)].join('\n'));
}

/** Adds `--yes` to a command that asks before an irreversible change (`confirm.ts`). */
export function addYesOption(command: Command): Command {
  return command.option('--yes', 'do not ask for confirmation');
}
