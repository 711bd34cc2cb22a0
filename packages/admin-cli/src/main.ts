#!/usr/bin/env node
import { ConfigError } from '@svc/runtime';
import { isUnavailable } from '@svc/store';
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { Refusal } from './refusal.ts';

// Exit codes: 0 done, 1 refused, 2 wrong usage.
try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // Commander has said what is wrong already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Refusal || error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  if (isUnavailable(error)) {
    process.stderr.write('The database cannot be reached. Check DATABASE_URL and that it runs.\n');
    return 1;
  }
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return 1;
}
