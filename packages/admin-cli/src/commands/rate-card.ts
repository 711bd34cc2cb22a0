import { closeSync, openSync, readSync } from 'node:fs';
import { rateCardAnswer } from '@svc/contracts/views/rate-card';
import {
  parseBoundedJson,
  parseRateCard,
  type RateCard,
  RateCardError,
  toWireId,
} from '@svc/domain';
import { currentRateCard, findTenant, insertRateCard, listRateCards } from '@svc/store';
import type { Command } from 'commander';
import { idArgument, limitArgument, listLimitDefault } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { print, printJson, printTable } from '../output.ts';
import { tryRedis } from '../redis.ts';
import { Refusal } from '../refusal.ts';
import { cardDifference, inheritTypicalUsage, rateRows } from './rate-card-text.ts';
import { unknownTenant } from './tenant-output.ts';

interface RateCardOptions extends CommandOptions {
  tenant?: string;
  limit?: number;
}

const fileBytesMax = 1_048_576;
const cardBounds = { charactersMax: fileBytesMax, depthMax: 32 };
const unreadable = {
  too_large: 'it is too large',
  too_deep: `it nests more than ${cardBounds.depthMax} levels deep`,
  nul: 'a string in it contains U+0000',
  lone_surrogate: 'a string in it contains half of a surrogate pair',
  malformed: 'it is not JSON',
};

/** `svc rate-card …` (CONTRACT 4, 5 and 9). */
export function addRateCardCommands(rateCard: Command): void {
  const forTenant = [
    '--tenant <tenant>',
    'the card of this tenant, tnt_… (default: the card for tenants without their own card)',
    idArgument('tnt'),
  ] as const;
  addCommand(rateCard, 'show', {
    does: 'show the rate card in force',
    examples: ['svc rate-card show', 'svc rate-card show --json > card.json'],
  })
    .option(...forTenant)
    .action((options: RateCardOptions) => withContext((context) => show(context, options)));
  const applying = addCommand(rateCard, 'apply', {
    does: 'put a rate card in force as a new version; existing quotes keep their version',
    examples: [
      'svc rate-card apply card.json',
      'svc rate-card apply card.json --tenant tnt_… --yes',
    ],
  });
  addYesOption(applying)
    .argument('<file>', 'JSON as `svc rate-card show --json` prints it')
    .option(...forTenant)
    .action((file: string, options: RateCardOptions) =>
      withContext((context) => apply(context, file, options)),
    );
  addCommand(rateCard, 'history', {
    does: 'list the versions of a rate card, newest first',
    examples: ['svc rate-card history', 'svc rate-card history --tenant tnt_…'],
  })
    .option(...forTenant)
    .option(
      '--limit <count>',
      `the most versions to list (default: ${listLimitDefault})`,
      limitArgument,
    )
    .action((options: RateCardOptions) => withContext((context) => history(context, options)));
}

/**
 * Returns the separate card of the tenant, or else the default card. Throws Refusal if the tenant
 * is unknown or if there is no card.
 */
async function cardInForce({ store }: Context, tenantId: string | undefined): Promise<RateCard> {
  if (tenantId !== undefined && (await findTenant(store, tenantId)) === null) throw unknownTenant();
  const card =
    tenantId === undefined
      ? ((await listRateCards(store, null, 1))[0]?.card ?? null)
      : await currentRateCard(store, tenantId);
  if (card === null) throw new Refusal('There is no rate card. Run `svc migrate`.');
  return card;
}

async function show(context: Context, options: RateCardOptions): Promise<void> {
  const card = await cardInForce(context, options.tenant);
  const surgeMicros = await surgeInForce(context);
  const shown = rateCardAnswer(card, surgeMicros);
  if (options.json === true) return printJson(shown);
  print(
    `version ${shown.version}, ${shown.usdPerCredit} USD a credit, surge ${shown.surgeMultiplier}`,
  );
  printTable(['job type', 'tier', 'base', 'min', 'max', '×', 'weights'], rateRows(shown));
}

const surgeNoneMicros = 1_000_000n;

async function surgeInForce(context: Context): Promise<bigint> {
  const read = await tryRedis(context, ({ redis, prefix, queue }) =>
    queue.readPublishedSurge(redis, prefix),
  );
  const text = read.kind === 'done' ? read.value : null;
  return text === null || !/^\d{7}$/.test(text) ? surgeNoneMicros : BigInt(text);
}

async function apply(context: Context, file: string, options: RateCardOptions): Promise<void> {
  const before = await cardInForce(context, options.tenant);
  const card = inheritTypicalUsage(readCard(file), before);
  const difference = cardDifference(before, card);
  const whose = options.tenant === undefined ? null : toWireId('tnt', options.tenant);
  const isOwn =
    options.tenant === undefined ||
    (await listRateCards(context.store, options.tenant, 1)).length > 0;
  if (difference.length === 0 && isOwn) {
    if (options.json === true) {
      return printJson({ version: before.version, tenantId: whose, changes: [] });
    }
    return print(`The card is identical to version ${before.version}. Nothing was changed.`);
  }
  if (options.json !== true) {
    printTable(
      ['what', 'before', 'after'],
      difference.map((change) => [change.path, change.before ?? '-', change.after ?? '-']),
    );
  }
  await confirm(
    `Put this rate card in force for ${whose ?? 'all tenants without their own card'}?`,
    options,
  );
  const { store, by } = context;
  const version = await insertRateCard(store, card, options.tenant ?? null, by);
  if (options.json === true) return printJson({ version, tenantId: whose, changes: difference });
  print(`Version ${version} of the rate card is in force.`);
}

function readCard(file: string): RateCard {
  const parsed = parseBoundedJson(readText(file), cardBounds);
  if (parsed.kind === 'refused') {
    throw new Refusal(`The file is not a valid rate card: ${unreadable[parsed.reason]}.`);
  }
  try {
    return parseRateCard(0, parsed.value);
  } catch (error) {
    if (!(error instanceof RateCardError)) throw error;
    throw new Refusal(`The file is not a valid rate card: ${error.message}`);
  }
}

function readText(file: string): string {
  const bytes = Buffer.alloc(fileBytesMax + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, 'r');
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        read = readSync(descriptor, bytes, length, bytes.length - length, null);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new Refusal(`The file cannot be read: ${messageOf(error)}.`);
  }
  if (length > fileBytesMax)
    throw new Refusal('The file is larger than 1 MiB, the limit for a rate card.');
  return bytes.toString('utf8', 0, length);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function history({ store }: Context, options: RateCardOptions): Promise<void> {
  const { tenant, limit = listLimitDefault } = options;
  if (tenant !== undefined && (await findTenant(store, tenant)) === null) throw unknownTenant();
  const versions = await listRateCards(store, tenant ?? null, limit);
  if (options.json === true) {
    return printJson(
      versions.map(({ card, createdAt }) => {
        const { surgeMultiplier: _, ...shown } = rateCardAnswer(card, surgeNoneMicros);
        return {
          ...shown,
          tenantId: tenant === undefined ? null : toWireId('tnt', tenant),
          createdAt,
        };
      }),
    );
  }
  const rows = versions.map(({ card, createdAt }, index) => {
    const older = versions[index + 1]?.card;
    const changes = older === undefined ? '-' : cardDifference(older, card).map(({ path }) => path);
    return [String(card.version), createdAt.toISOString(), String(changes)];
  });
  printTable(['version', 'since', 'changed'], rows);
}
