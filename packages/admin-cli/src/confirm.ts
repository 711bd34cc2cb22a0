import { createInterface } from 'node:readline/promises';
import type { CommandOptions } from './command.ts';
import { Refusal } from './refusal.ts';

/**
 * Asks the operator `question`. Throws Refusal if the answer is not yes. `--yes`, `--json` and a
 * missing terminal count as confirmation.
 */
export async function confirm(question: string, options: CommandOptions): Promise<void> {
  if (options.yes === true || options.json === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('Cancelled. Nothing was changed.');
  } finally {
    terminal.close();
  }
}
