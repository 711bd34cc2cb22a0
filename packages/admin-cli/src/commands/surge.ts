import { creditsToNumber, surgeMaxMicros, surgeNoneMicros } from '@svc/domain';
import { createFleetRegistry, readPublishedSurge } from '@svc/queue';
import { pinSurge, readSurgePin } from '@svc/store';
import { type Command, InvalidArgumentError } from 'commander';
import { creditsArgument } from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord, type Row } from '../output.ts';
import { tryRedis } from '../redis.ts';

/** `svc surge …` (CONTRACT 4 and 9). */
export function addSurgeCommands(surge: Command): void {
  addCommand(surge, 'show', {
    does: 'show the surge multiplier in force, its pin and the load of the fleet',
    examples: ['svc surge show'],
  }).action((options: CommandOptions) => withContext((context) => show(context, options)));
  addCommand(surge, 'pin', {
    does: 'pin the surge multiplier; new quotes use it within seconds, existing quotes do not change',
    examples: ['svc surge pin 1.5'],
  })
    .argument('<multiplier>', 'from 1 to 3', multiplierArgument)
    .action((micros: bigint, options: CommandOptions) =>
      withContext((context) => pin(context, micros, options)),
    );
  addCommand(surge, 'auto', {
    does: 'let the surge multiplier follow the load of the fleet again',
    examples: ['svc surge auto'],
  }).action((options: CommandOptions) => withContext((context) => pin(context, null, options)));
}

/** Parses a multiplier into millionths. */
function multiplierArgument(text: string): bigint {
  const micros = creditsArgument(text);
  if (micros < surgeNoneMicros || micros > surgeMaxMicros) {
    throw new InvalidArgumentError('It must be a number from 1 to 3.');
  }
  return micros;
}

async function pin(
  context: Context,
  micros: bigint | null,
  options: CommandOptions,
): Promise<void> {
  await pinSurge(context.store, micros, context.by);
  await show(context, options, { isChanged: true });
}

async function show(
  context: Context,
  options: CommandOptions,
  { isChanged = false }: { readonly isChanged?: boolean } = {},
): Promise<void> {
  const pinned = await readSurgePin(context.store);
  const fleet = await readFleet(context).catch((error: unknown) => {
    if (isChanged) return { surgeMultiplier: null, slots: null, busy: null };
    throw error;
  });
  printRecord({ pinned: pinned === null ? null : creditsToNumber(pinned), ...fleet }, options);
}

/**
 * The multiplier is 1 if none is published. All values are null if `REDIS_URL` is not set or Redis
 * cannot be reached.
 */
async function readFleet(context: Context): Promise<Row> {
  const read = await tryRedis(context, async ({ redis, prefix }) => {
    const published = await readPublishedSurge(redis, prefix);
    const { slots, free } = await createFleetRegistry({ redis, prefix }).capacity();
    const micros = published === null ? surgeNoneMicros : BigInt(published);
    return { surgeMultiplier: creditsToNumber(micros), slots, busy: slots - free };
  });
  return read.kind === 'away' ? { surgeMultiplier: null, slots: null, busy: null } : read.value;
}
