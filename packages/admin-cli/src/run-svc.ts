import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { Refusal, WrongUsage } from './refusal.ts';
import { plainText } from './table.ts';

/**
 * Runs one command of `svc` and sets the exit code of this process: 0 for success, 2 for wrong
 * usage or configuration, and 1 for a refusal, found faults or another error.
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
  return error instanceof WrongUsage || isWrongConfiguration(error) ? 2 : 1;
}

async function explain(error: unknown): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Refusal || error instanceof WrongUsage || isWrongConfiguration(error))
    return printable(error.message);
  const { isUnavailable } = await import('@svc/store');
  if (isUnavailable(error)) {
    return 'Postgres cannot be reached, is read-only, or is too slow. Check the server, its locks and DATABASE_URL.';
  }
  return printable(error.stack ?? error.message);
}

/** Uses the name, because not every command loads the class. */
function isWrongConfiguration(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConfigError';
}

/**
 * Replaces control characters, because a message may quote a file or the database. Keeps line
 * breaks.
 */
function printable(message: string): string {
  return message.split('\n').map(plainText).join('\n');
}
