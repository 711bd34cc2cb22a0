import { Command } from 'commander';
import { catalogue } from './catalogue.ts';

/**
 * `svc`, ready to parse these words: only the groups that they name have their commands. Without
 * words it is whole.
 */
export async function createProgram(words?: readonly string[]): Promise<Command> {
  const program = new Command('svc')
    .description('Runs the submission service. Every command takes --json and --help.')
    .showHelpAfterError('(--help shows how)')
    .addHelpText('after', outro)
    .exitOverride();
  const named = catalogue.filter(({ name }) => words?.includes(name) === true);
  const isWhole = words === undefined || named.some(({ needsAll }) => needsAll === true);
  for (const group of catalogue) {
    const { name, summary, load } = group;
    const command = program.command(name).description(summary);
    if (isWhole || named.includes(group)) (await load())(command);
  }
  // Sub-commands do not take over what is set on their parent afterwards.
  for (const command of program.commands) inherit(command, program);
  return program;
}

const outro = `
It works on the stack that \`npm start\` runs here, or on DATABASE_URL, REDIS_URL and SVC_MASTER_KEY;
in production also with SVC_OPERATOR_ID and SVC_OPERATOR_SECRET, which say who you are.
Exit codes: 0 done, 1 refused, 2 wrong usage.`;

function inherit(command: Command, from: Command): void {
  command.copyInheritedSettings(from);
  for (const child of command.commands) inherit(child, command);
}
