import { Command } from 'commander';
import { catalogue } from './catalogue.ts';

/**
 * Loads the commands of the groups that `words` names. Loads all groups if `words` is undefined or
 * if a named group needs them all.
 */
export async function createProgram(words?: readonly string[]): Promise<Command> {
  const program = new Command('svc')
    .description('Administers the submission service. Every command takes --json and --help.')
    .showHelpAfterError('(run the command with --help to see its usage)')
    .addHelpText('after', outro)
    .exitOverride();
  const named = catalogue.filter(({ name }) => words?.includes(name) === true);
  const isWhole = words === undefined || named.some(({ needsAll }) => needsAll === true);
  for (const group of catalogue) {
    const { name, summary, load } = group;
    const command = program.command(name).description(summary);
    if (isWhole || named.includes(group)) (await load())(command);
  }
  // Gives all commands at every level the settings of the program, such as `exitOverride`.
  for (const command of program.commands) inherit(command, program);
  return program;
}

const outro = `
svc uses the variables DATABASE_URL, REDIS_URL and SVC_MASTER_KEY. If DATABASE_URL is not set, svc
connects to the stack that \`npm start\` runs from this checkout. Production also needs
SVC_ENVIRONMENT=production, and SVC_OPERATOR_ID and SVC_OPERATOR_SECRET to identify you.
\`svc listen\` and \`svc trigger\` use the API instead (see their --help).
Exit codes: 0 success, 1 refused, failed or fault found, 2 wrong usage.`;

function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from);
  for (const child of command.commands) inherit(child, command);
}
