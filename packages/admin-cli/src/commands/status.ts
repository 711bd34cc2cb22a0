import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { durationArgument } from '../arguments.ts';
import { type CommandOptions, describeCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { jsonText, print, printJson, terminalWidth } from '../output.ts';
import { readServiceStatus } from './service-status.ts';
import { statusLines, statusRecord } from './status-output.ts';

interface StatusOptions extends CommandOptions {
  watch?: boolean;
  /** The interval between refreshes, in milliseconds. */
  every?: number;
}

const refreshMsDefault = 2_000;
const refreshMsMin = 500;

/** `svc status [--watch]` (CONTRACT 9). */
export function addStatusCommand(command: Command): void {
  describeCommand(command, {
    does: 'show services, queues, work in flight, fleet, the last ledger audit and dead letters',
    examples: ['svc status', 'svc status --watch'],
  })
    .option('--watch', 'refresh until Ctrl-C')
    .option(
      '--every <duration>',
      'with --watch, the interval between refreshes (default: 2s)',
      durationArgument,
    )
    .action((options: StatusOptions) => withContext((context) => showStatus(context, options)));
}

async function showStatus(context: Context, options: StatusOptions): Promise<void> {
  if (options.watch === true) return watch(context, options);
  const status = await readServiceStatus(context);
  if (options.json === true) return printJson(statusRecord(status));
  for (const line of statusLines(status, terminalWidth())) print(line);
}

async function watch(context: Context, options: StatusOptions): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const onScreen = process.stdout.isTTY && options.json !== true;
  const refreshMs = Math.max(refreshMsMin, options.every ?? refreshMsDefault);
  if (onScreen) process.stdout.write(enterScreen);
  try {
    while (!stopping.signal.aborted) {
      const status = await readServiceStatus(context);
      if (options.json === true) print(jsonText(statusRecord(status)));
      else draw(statusLines(status, terminalWidth()), onScreen);
      await sleep(refreshMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  } finally {
    if (onScreen) process.stdout.write(leaveScreen);
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

/** Opens the terminal's alternate screen and hides the cursor. */
const enterScreen = '\u001B[?1049h\u001B[?25l';
/** Shows the cursor again and returns to the main screen. */
const leaveScreen = '\u001B[?25h\u001B[?1049l';
const home = '\u001B[H';
const clearLineRest = '\u001B[K';
const clearBelow = '\u001B[J';

/**
 * Prints the lines. With `onScreen`, overwrites the previous lines in place to avoid flicker, and
 * leaves out the lines that do not fit on the screen.
 */
function draw(lines: readonly string[], onScreen: boolean): void {
  if (!onScreen) {
    for (const line of [...lines, '']) print(line);
    return;
  }
  const fitting = lines.slice(0, Math.max(1, process.stdout.rows - 1));
  const text = fitting.map((line) => `${line}${clearLineRest}\n`).join('');
  process.stdout.write(`${home}${text}${clearBelow}`);
}
