import { Command } from 'commander';
import { addCreditsCommands } from './commands/credits.ts';
import { addLedgerCommands } from './commands/ledger.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addNodeCommands } from './commands/node.ts';
import { addOperatorCommands } from './commands/operator.ts';
import { addStatusCommand } from './commands/status.ts';
import { addTenantCommands } from './commands/tenant.ts';

/** The whole of `svc`, ready to parse. */
export function createProgram(): Command {
  const program = new Command('svc')
    .description('Runs the submission service: tenants, credits, nodes, schema, status.')
    .showHelpAfterError('(--help shows how)')
    .exitOverride();
  addTenantCommands(program);
  addCreditsCommands(program);
  addNodeCommands(program);
  addOperatorCommands(program);
  addLedgerCommands(program);
  addMigrateCommand(program);
  addStatusCommand(program);
  // Sub-commands do not take over what is set on their parent afterwards.
  for (const command of program.commands) inherit(command, program);
  return program;
}

function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from);
  for (const child of command.commands) inherit(child, command);
}
