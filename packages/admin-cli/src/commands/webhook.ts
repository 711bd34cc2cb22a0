import { assertNever, type DeliveryStatus, deliveryStatuses, toWireId } from '@svc/domain';
import {
  auditReading,
  countRecoverable,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  recoverDeliveries,
  type Recovery,
  type RecoveryPlace,
  redeliver,
} from '@svc/store';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AskedTime, idArgument, timeArgument, timeOf } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printList, printRecord, type Row } from '../output.ts';
import { createProgress } from '../progress.ts';
import { announceDeliveries } from '../redis.ts';
import { Refusal } from '../refusal.ts';

interface ListOptions extends CommandOptions {
  readonly tenant?: string;
  readonly status?: DeliveryStatus;
  readonly limit: number;
}

interface RecoverOptions extends CommandOptions {
  readonly since: AskedTime;
  readonly tenant?: string;
  readonly dropped?: boolean;
}

const listedDefault = 50;
const listedMax = 1_000;
/** The most deliveries that one transaction recovers. */
const recoveredMax = 500;

/**
 * `svc webhook …` (CONTRACT 9). `redeliver` and `recover` repeat deliveries with the stored body of
 * the event, and move no money.
 */
export function addWebhookCommands(webhook: Command): void {
  addCommand(webhook, 'list', {
    does: 'list the newest deliveries',
    examples: [
      'svc webhook list --status exhausted',
      'svc webhook list --tenant tnt_… --limit 200',
    ],
  })
    .option('--tenant <tenant>', 'only deliveries of this tenant, tnt_…', idArgument('tnt'))
    .addOption(
      new Option('--status <status>', 'only deliveries in this status').choices(deliveryStatuses),
    )
    .option('--limit <n>', 'the most deliveries to list', limitArgument, listedDefault)
    .action((options: ListOptions) => withContext((context) => list(context, options)));
  addCommand(webhook, 'show', {
    does: 'show one delivery with the attempts of its current round',
    examples: ['svc webhook show dlv_…'],
  })
    .argument('<delivery>', 'its id, dlv_…', idArgument('dlv'))
    .action((id: string, options: CommandOptions) =>
      withContext(async ({ store, by }) => {
        const delivery = await found(findDelivery(store, null, id));
        if (hasResponse(delivery)) await auditReading(store, { deliveryId: id }, by);
        printRecord(deliveryRow(delivery), options);
      }),
    );
  addCommand(webhook, 'redeliver', {
    does: 'send a delivery again now, in a new round of attempts; at a poll endpoint, nothing is sent, but the tenant can read the event again',
    examples: ['svc webhook redeliver dlv_…'],
  })
    .argument('<delivery>', 'its id, dlv_…', idArgument('dlv'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => sendAgain(context, id, options)),
    );
  const recovery = addCommand(webhook, 'recover', {
    does: 'send exhausted deliveries again; if the command is interrupted, run it again',
    examples: ['svc webhook recover --since 24h', 'svc webhook recover --since 2026-01-31T08:00Z'],
  });
  addYesOption(recovery)
    .requiredOption(
      '--since <time>',
      'only deliveries created since this time or date; 24h means 24 hours ago',
      timeArgument,
    )
    .option('--tenant <tenant>', 'only deliveries of this tenant, tnt_…', idArgument('tnt'))
    .option(
      '--dropped',
      'also deliveries that were dropped because the URL was cleared or answered 410',
    )
    .action((options: RecoverOptions) => withContext((context) => recover(context, options)));
}

async function list(
  { store, by }: Context,
  {
    tenant = null,
    status = null,
    limit,
    ...options
  }: Omit<ListOptions, 'tenant' | 'status'> & {
    tenant?: string | null;
    status?: DeliveryStatus | null;
  },
): Promise<void> {
  const deliveries = await listDeliveries(store, tenant, { status, afterId: null, limit });
  const rows = deliveries.map((one) => ({
    ...deliveryRow(one),
    attemptCount: one.attempts.length,
  }));
  // Only the JSON output shows the answers of endpoints. An answer may repeat personal data, so
  // reading it is audited.
  const count = deliveries.filter(hasResponse).length;
  if (options.json === true && count > 0)
    await auditReading(store, { list: 'deliveries', count }, by);
  const columns = [
    'id',
    'tenantId',
    'type',
    'status',
    'attemptCount',
    'nextAttemptAt',
    'createdAt',
  ];
  printList(options.json === true ? deliveries.map(deliveryRow) : rows, columns, options);
}

async function sendAgain(
  context: Context,
  deliveryId: string,
  options: CommandOptions,
): Promise<void> {
  const { store, by } = context;
  const { tenantId } = await found(findDelivery(store, null, deliveryId));
  const outcome = await redeliver(store, { tenantId, deliveryId }, by);
  switch (outcome.kind) {
    case 'queued': {
      await announceDeliveries(context, [tenantId]);
      const delivery = await found(findDelivery(store, null, deliveryId));
      if (hasResponse(delivery)) await auditReading(store, { deliveryId }, by);
      return printRecord(
        { deliveryId: toWireId('dlv', deliveryId), ...deliveryRow(delivery) },
        options,
      );
    }
    case 'not_found':
      throw new Refusal('There is no such delivery. Run `svc webhook list` to see the ids.');
    case 'url_missing':
      throw new Refusal(
        'The URL of this delivery is missing or disabled. If it is the URL of the settings, set it with `svc tenant update tnt_… --webhook-url`. If it is the URL of a webhook endpoint, only the tenant can set it. A delivery of a deleted endpoint, or to a URL that was replaced, cannot be sent again.',
      );
    case 'in_progress':
      throw new Refusal('An attempt of this delivery is in progress. Try again in 30 s.');
    case 'over_cap': {
      const seconds = Math.ceil(outcome.retryInMs / 1_000);
      throw new Refusal(
        `The tenant has used all webhook attempts of this hour. Try again in ${seconds} s.`,
      );
    }
    default:
      assertNever(outcome);
  }
}

async function recover(context: Context, options: RecoverOptions): Promise<void> {
  const { store, by } = context;
  const since = await timeOf(store, options.since);
  const recovery: Recovery = {
    since,
    tenantId: options.tenant ?? null,
    statuses: options.dropped === true ? ['exhausted', 'dropped'] : ['exhausted'],
  };
  const total = await countRecoverable(store, recovery);
  if (total > 0) await confirm(`Send ${total} deliveries again?`, options);
  const bar = createProgress('Recovering', total, options);
  let recovered = 0;
  let after: RecoveryPlace | null = null;
  for (;;) {
    const page = await recoverDeliveries(store, recovery, { after, limit: recoveredMax }, by);
    if (page === null) break;
    recovered += page.count;
    await announceDeliveries(context, page.tenantIds);
    after = page.last;
    bar.show(recovered);
  }
  if (recovered > 0) bar.end();
  printRecord({ recovered, since: since.toISOString() }, options);
}

async function found(delivery: Promise<DeliveryRecord | null>): Promise<DeliveryRecord> {
  const record = await delivery;
  if (record === null)
    throw new Refusal('There is no such delivery. Run `svc webhook list` to see the ids.');
  return record;
}

/**
 * True if an attempt has the text of an endpoint's answer. Such a text may repeat personal data, so
 * reading it is audited.
 */
function hasResponse({ attempts }: DeliveryRecord): boolean {
  return attempts.some(({ response }) => response !== null && response !== '');
}

function deliveryRow({ id, tenantId, eventId, ...delivery }: DeliveryRecord): Row {
  return {
    id: toWireId('dlv', id),
    tenantId: toWireId('tnt', tenantId),
    eventId: toWireId('evt', eventId),
    ...delivery,
  };
}

function limitArgument(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > listedMax) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${listedMax}.`);
  }
  return limit;
}
