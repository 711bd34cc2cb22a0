import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

const whole = await createProgram();

function leaves(command: Command, words: string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((child) => leaves(child, [...words, child.name()]));
}

test.each(leaves(whole))('svc %s has --json, and its help has examples', (words, command) => {
  expect(command.options.map(({ long }) => long)).toContain('--json');
  expect(command.description()).toMatch(/^[^A-Z].*[^.]$/);
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  expect(help).toMatch(new RegExp(`\\$ (\\S+=\\S+ )?svc ${words}`));
});

test('only the commands of the named group are loaded', async () => {
  const program = await createProgram(['tenant', 'list']);
  const loaded = program.commands.filter(({ commands }) => commands.length > 0);
  expect(loaded.map((command) => command.name())).toEqual(['tenant']);
});
