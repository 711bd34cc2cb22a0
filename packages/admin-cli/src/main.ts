#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { Refusal, WrongUsage } from './refusal.ts';
import { plainText } from './table.ts';

// Most of a short command's time would go into compiling what it loads.
enableCompileCache();
// `svc … | head` is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// Exit codes: 0 done, 1 refused, 2 wrong usage.
try {
  const program = await createProgram(process.argv.slice(2));
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = await report(error);
}

async function report(error: unknown): Promise<number> {
  // Commander has said what is wrong already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  process.stderr.write(`${await explain(error)}\n`);
  return error instanceof WrongUsage ? 2 : 1;
}

async function explain(error: unknown): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Refusal || error instanceof WrongUsage || error.name === 'ConfigError')
    return printable(error.message);
  const { isUnavailable } = await import('@svc/store');
  if (isUnavailable(error)) {
    return 'The database cannot be reached. Check DATABASE_URL and that it runs.';
  }
  return printable(error.stack ?? error.message);
}

/** Messages may quote a file or the database; their lines stay. */
function printable(message: string): string {
  return message.split('\n').map(plainText).join('\n');
}
