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
  for (const { name, summary, load } of catalogue) {
    const command = program.command(name).description(summary);
    if (words === undefined || words.includes(name)) (await load())(command);
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
