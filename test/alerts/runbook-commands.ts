import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createProgram } from '@svc/admin-cli';
import { runbooksDir } from './rules.ts';

type Command = Awaited<ReturnType<typeof createProgram>>;

export interface CheckedCommands {
  readonly count: number;
  /**
   * The wrong commands in the runbooks: `svc` does not have the command, or the command does not
   * have the option. Each is written as `<file>: svc <command>`.
   */
  readonly unknown: readonly string[];
}

export async function checkRunbookCommands(): Promise<CheckedCommands> {
  const program = await createProgram();
  const lines = readdirSync(runbooksDir).flatMap((file) => {
    const text = readFileSync(path.join(runbooksDir, file), 'utf8');
    return [...text.matchAll(/`svc ([^`]*)`/g)].map(([, line = '']) => ({ file, line }));
  });
  const unknown = lines.filter(({ line }) => !isKnown(program, line));
  return { count: lines.length, unknown: unknown.map(({ file, line }) => `${file}: svc ${line}`) };
}

function isKnown(program: Command, line: string): boolean {
  const words = line.split(' ');
  let command: Command | undefined = program;
  while (command !== undefined && command.commands.length > 0) {
    const word = words.shift();
    command = command.commands.find((one) => one.name() === word);
  }
  if (command === undefined) return false;
  const options = ['--json', ...command.options.map(({ long }) => long)];
  return words.every((word) => !word.startsWith('--') || options.includes(word));
}
