import type { Command } from 'commander';

/**
 * How a command is written: a file of `commands/` adds its commands to the group that
 * `catalogue.ts` names, each with what it does, examples and `--json`; its action runs in
 * `withContext`, hands `context.by` to the function of the store that makes the change (which
 * writes the audit log in the same transaction), and prints by `output.ts`.
 */

export interface CommandText {
  /** One line, without a full stop. */
  readonly does: string;
  /** Whole command lines, `svc …`. */
  readonly examples: readonly string[];
}

/** What every command understands. */
export interface CommandOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Adds a command to a group: `addCommand(tenant, 'show', …)` is `svc tenant show`. */
export function addCommand(group: Command, name: string, text: CommandText): Command {
  return describeCommand(group.command(name), text);
}

/** The same for a group that is a command itself, such as `svc status`. */
export function describeCommand(command: Command, { does, examples }: CommandText): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return command
    .description(does)
    .option('--json', 'print JSON')
    .addHelpText('after', ['', `${title}:`, ...examples.map((line) => `  $ ${line}`)].join('\n'));
}

/** For a command that asks before it does what cannot be undone (`confirm.ts`). */
export function addYesOption(command: Command): Command {
  return command.option('--yes', 'do not ask');
}
