import { changeSettings, type SettingsChange } from '@svc/store';
import type { Command } from 'commander';
import {
  collect,
  creditsArgument,
  idArgument,
  integerArgument,
  limitOrNone,
  percentArgument,
} from '../arguments.ts';
import { addCommand, type CommandOptions } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { printRecord } from '../output.ts';
import { announceDeliveries } from '../redis.ts';
import { WrongUsage } from '../refusal.ts';
import { acceptedUrl, allowedJobTypes } from './tenant-input.ts';
import { unknownTenant, showTenant } from './tenant-output.ts';

interface UpdateOptions extends CommandOptions {
  allow?: string[];
  webhookUrl?: string;
  rate?: number;
  burst?: number;
  /** The share of each charge that accrues as a rebate, in millionths. */
  rebate?: number;
  lowBalance?: bigint;
  inFlight?: number | null;
  webhookCap?: number | null;
}

const ratePerSecondMax = 100_000;
const burstMax = 1_000_000;
const inFlightLimitMax = 1_000_000;
const webhookCapMax = 1_000_000_000;

/** `svc tenant update` (CONTRACT 9). */
export function addUpdateCommand(tenant: Command): void {
  addCommand(tenant, 'update', {
    does: 'change settings of a tenant; omitted settings stay unchanged',
    examples: [
      'svc tenant update tnt_… --webhook-url https://hooks.example.com/svc',
      'svc tenant update tnt_… --rate 50 --burst 100 --rebate 2.5',
      'svc tenant update tnt_… --in-flight 200 --webhook-cap 20000',
      'svc tenant update tnt_… --allow none',
    ],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option(
      '--allow <jobType>',
      'a job type that the tenant may submit (repeatable); `none` forbids all types',
      collect,
    )
    .option(
      '--webhook-url <url>',
      'the webhook URL of the tenant; setting a URL enables it, even if it was disabled; `none` removes the URL',
    )
    .option(
      '--rate <perSecond>',
      'the maximum number of requests per second',
      integerArgument(1, ratePerSecondMax),
    )
    .option(
      '--burst <requests>',
      'the maximum number of requests in one burst',
      integerArgument(1, burstMax),
    )
    .option(
      '--rebate <percent>',
      'the percentage of each charge that accrues as a rebate',
      percentArgument,
    )
    .option(
      '--in-flight <submissions>',
      'the maximum number of submissions in flight; `none` removes the limit',
      limitOrNone(inFlightLimitMax),
    )
    .option(
      '--webhook-cap <attempts>',
      'the maximum number of webhook attempts in each clock hour; `none` removes the limit',
      limitOrNone(webhookCapMax),
    )
    .option(
      '--low-balance <credits>',
      'notify the tenant when a charge takes its balance below this amount, or when you raise this amount above its balance',
      creditsArgument,
    )
    .action((id: string, options: UpdateOptions) =>
      withContext((context) => update(context, id, options)),
    );
}

async function update(context: Context, tenantId: string, options: UpdateOptions): Promise<void> {
  const change = changeOf(context, options);
  if (Object.keys(change).length === 0) {
    throw new WrongUsage(
      'Nothing to change. Give at least one option: see `svc tenant update --help`.',
    );
  }
  const changed = await changeSettings(context.store, tenantId, change, context.by);
  if (changed === null) throw unknownTenant();
  await announceDeliveries(context, changed.deliveryIds.length === 0 ? [] : [tenantId]);
  printRecord(await showTenant(context, tenantId), options);
}

function changeOf(context: Context, options: UpdateOptions): SettingsChange {
  const { allow, webhookUrl, rate, burst, rebate, lowBalance, inFlight, webhookCap } = options;
  return {
    ...(allow === undefined ? {} : { allowedJobTypes: allowedJobTypes(allow) }),
    ...(webhookUrl === undefined
      ? {}
      : { webhookUrl: webhookUrl === 'none' ? null : acceptedUrl(context, webhookUrl) }),
    ...(rate === undefined ? {} : { rateLimitPerSecond: rate }),
    ...(burst === undefined ? {} : { rateLimitBurst: burst }),
    ...(rebate === undefined ? {} : { rebateMillionths: rebate }),
    ...(inFlight === undefined ? {} : { inFlightMax: inFlight }),
    ...(webhookCap === undefined ? {} : { webhookAttemptsPerHour: webhookCap }),
    ...(lowBalance === undefined ? {} : { lowBalanceThresholdMicros: lowBalance }),
  };
}
