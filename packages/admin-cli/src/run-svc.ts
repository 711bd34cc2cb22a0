import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { Refusal, WrongUsage } from './refusal.ts';
import { plainText } from './table.ts';

/**
 * Runs one command of `svc` and sets the exit code of this process: 0 for success, 2 for wrong
 * usage, and 1 for a refusal, for faults that a check found, or for another error.
 */
export async function runSvc(words: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    process.exitCode = await report(error);
  }
}

async function report(error: unknown): Promise<number> {
  // Commander has already printed the error or the help.
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
    return 'Postgres cannot be reached, or is too slow. Check the server, its locks and DATABASE_URL.';
  }
  return printable(error.stack ?? error.message);
}

/**
 * Replaces control characters, because a message may quote a file or the database. Keeps line
 * breaks.
 */
function printable(message: string): string {
  return message.split('\n').map(plainText).join('\n');
}
