import { Argument, type Command } from 'commander';
import { type CommandOptions, describeCommand } from '../command.ts';
import { print, printJson } from '../output.ts';

const shells = ['bash', 'zsh'] as const;

export function addCompletionCommand(command: Command): void {
  describeCommand(command, {
    does: 'print a script that completes commands and options in the shell',
    examples: ['source <(svc completion bash)', 'svc completion zsh > ~/.zfunc/_svc'],
  })
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: (typeof shells)[number], options: CommandOptions) => {
      const script = completionScript(shell, command.parent ?? command);
      if (options.json === true) printJson({ shell, script });
      else print(script);
    });
}

/**
 * Lists the command and its subcommands at any depth. Each entry has a path, such as `node list`,
 * and the words that can follow this path.
 */
function completionsOf(command: Command, path: string): [string, string[]][] {
  const subcommands = command.commands.map((child) => child.name());
  const options = command.options.flatMap(({ long }) => (long === undefined ? [] : [long]));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const words = [...subcommands, ...choices, ...options, '--help'];
  return [
    [path, words],
    ...command.commands.flatMap((child) => completionsOf(child, `${path} ${child.name()}`.trim())),
  ];
}

function completionScript(shell: (typeof shells)[number], program: Command): string {
  const cases = completionsOf(program, '').map(
    ([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`,
  );
  const script = [
    '_svc() {',
    "  local current=${COMP_WORDS[COMP_CWORD]} path='' words='' word found i",
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    word=${COMP_WORDS[i]}',
    '    [[ $word == -* ]] && continue',
    '    found="${path:+$path }$word"',
    '    case "$found" in',
    `      ${completionsOf(program, '')
      .flatMap(([path]) => (path === '' ? [] : [`'${path}'`]))
      .join('|')}) path=$found ;;`,
    '    esac',
    '  done',
    '  case "$path" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -F _svc svc',
  ];
  const zshHead = ['#compdef svc', 'autoload -U +X bashcompinit && bashcompinit'];
  return [...(shell === 'zsh' ? zshHead : []), ...script].join('\n');
}
