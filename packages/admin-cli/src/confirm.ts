import { createInterface } from 'node:readline/promises';
import type { CommandOptions } from './command.ts';
import { Refusal } from './refusal.ts';

/**
 * Asks before what cannot be undone; throws Refusal where the answer is not yes. Only a person at a
 * terminal is asked: a program, which has no terminal or wants JSON, has said what it wants, and
 * `--yes` says so too.
 */
export async function confirm(question: string, options: CommandOptions): Promise<void> {
  if (options.yes === true || options.json === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Nothing was changed.');
  } finally {
    terminal.close();
  }
}
