#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import { version } from '../version.ts';
import {
  CommandError,
  type CommandSpec,
  environmentHelp,
  listenCommand,
  runListen,
  runTrigger,
  triggerCommand,
} from './run.ts';

/** The program of this package: `npx @svc/client listen` and `npx @svc/client trigger`. */

const commands = [listenCommand, triggerCommand];
const program = 'npx @svc/client';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function help(): void {
  print(`Usage: ${program} <command> [options]\n\nCommands:`);
  for (const { name, does } of commands) print(`  ${name.padEnd(8)}  ${does}`);
  print(`\n${environmentHelp}\n\nExit codes: 0 success, 1 refused, 2 wrong usage.`);
}

function commandHelp({ name, does, argument, options, examples }: CommandSpec): void {
  const usage = [program, name, ...(argument ? [`[${argument.name}]`] : []), '[options]'];
  print(`Usage: ${usage.join(' ')}\n\n${does}\n\nOptions:`);
  for (const one of [
    ...options,
    { name: 'json', does: 'print JSON' },
    { name: 'help', does: 'show this help' },
  ]) {
    const value = 'value' in one && one.value !== undefined ? ` <${one.value}>` : '';
    print(`  ${`--${one.name}${value}`.padEnd(20)}  ${one.does}`);
  }
  print(`\n${environmentHelp}\n\nExamples:`);
  for (const example of examples) print(`  $ ${program} ${example}`);
}

async function main([name, ...words]: readonly string[]): Promise<void> {
  if (name === '--version') return print(version);
  if (name === undefined || name === '--help' || name === '-h') return help();
  const command = commands.find((one) => one.name === name);
  if (command === undefined) {
    throw new CommandError(
      `There is no command ${JSON.stringify(name)}. See \`${program} --help\`.`,
      2,
    );
  }
  const { values, positionals } = parse(command, words);
  if (values['help'] === true) return commandHelp(command);
  if (command === listenCommand) return runListen(values);
  return runTrigger(positionals[0], values);
}

function parse(command: CommandSpec, words: readonly string[]) {
  const flags = ['json', 'help'].map((name) => [name, { type: 'boolean' }] as const);
  const options = command.options.map(
    ({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const,
  );
  try {
    return parseArgs({
      args: [...words],
      options: Object.fromEntries([...flags, ...options]),
      allowPositionals: command.argument !== undefined,
    });
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), 2);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
