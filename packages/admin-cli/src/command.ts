import type { Command } from 'commander';

/**
 * How to write a command. A file of `commands/` adds its commands to a group of `catalogue.ts`. Each
 * command has a description, examples and `--json`. Its action runs in `withContext` and passes
 * `context.by` to the store function, which writes the audit log in the same transaction. It prints
 * with `output.ts`.
 */

export interface CommandText {
  /** One line, without a full stop. */
  readonly does: string;
  /** Whole command lines, `svc …`. */
  readonly examples: readonly string[];
}

/** The options of every command. */
export interface CommandOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Adds a command to a group: `addCommand(tenant, 'show', …)` is `svc tenant show`. */
export function addCommand(group: Command, name: string, text: CommandText): Command {
  return describeCommand(group.command(name), text);
}

/** Describes a group that is a command itself, such as `svc status`. */
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
