import { randomBytes } from 'node:crypto';
import { checkWebhookUrl, creditsToNumber, signupGrantDefaultMicros, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import {
  changeSettings,
  findTenant,
  listTenants,
  openTenant,
  readBalance,
  type TenantRecord,
} from '@svc/store';
import type { Command } from 'commander';
import { collect, creditsArgument, idArgument, nameArgument } from '../arguments.ts';
import { addCommand } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { type OutputOptions, printList, printRecord, type Row } from '../output.ts';
import { Refusal } from '../refusal.ts';

/** The job types that this build can dispatch. */
const jobTypesKnown = ['ats.application'];
const listedTenantsMax = 1_000;

interface CreateOptions extends OutputOptions {
  name: string;
  allow?: string[];
  webhookUrl?: string;
  grant?: bigint;
}

interface UpdateOptions extends OutputOptions {
  webhookUrl?: string;
}

/** `svc tenant …` (CONTRACT.md section 9). */
export function addTenantCommands(tenant: Command): void {
  addCommand(tenant, 'create', {
    does: 'create a tenant; its secrets are shown this once',
    examples: ['svc tenant create --name "Example Works" --grant 500'],
  })
    .requiredOption('--name <name>', 'a name for people', nameArgument)
    .option('--allow <jobType>', 'a job type it may submit, or none (repeatable)', collect)
    .option('--webhook-url <url>', 'where its events go')
    .option('--grant <credits>', 'credits to begin with (sandbox: 10000)', creditsArgument)
    .action((options: CreateOptions) => withContext((context) => create(context, options)));
  addCommand(tenant, 'list', { does: 'the newest tenants', examples: ['svc tenant list'] }).action(
    (options: OutputOptions) => withContext((context) => list(context, options)),
  );
  addCommand(tenant, 'show', { does: 'one tenant', examples: ['svc tenant show tnt_…'] })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((id: string, options: OutputOptions) =>
      withContext(async (context) => printRecord(await show(context, id), options)),
    );
  addCommand(tenant, 'update', {
    does: 'change settings of a tenant',
    examples: ['svc tenant update tnt_… --webhook-url https://hooks.example.com/svc'],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option('--webhook-url <url>', 'where its events go; setting it enables it again')
    .action((id: string, options: UpdateOptions) =>
      withContext((context) => update(context, id, options)),
    );
}

async function create(context: Context, options: CreateOptions): Promise<void> {
  const { configuration, store, by } = context;
  const sandbox = configuration.SVC_ENVIRONMENT === 'sandbox';
  const id = newId();
  const tenant = {
    id,
    name: options.name,
    allowedJobTypes: allowedJobTypes(options.allow),
    webhookUrl: acceptedUrl(context, options.webhookUrl) ?? null,
    hmacSecret: newSecret(sandbox ? 'hsk_test' : 'hsk_live', randomBytes),
    webhookSecret: newSecret('whsec', randomBytes),
  };
  const grantMicros = options.grant ?? (sandbox ? signupGrantDefaultMicros : 0n);
  await openTenant(store, tenant, grantMicros, by);
  const { hmacSecret, webhookSecret } = tenant;
  printRecord({ ...(await show(context, id)), hmacSecret, webhookSecret }, options);
}

function allowedJobTypes(allow: string[] | undefined): string[] {
  if (allow === undefined) return jobTypesKnown;
  if (allow.includes('none')) {
    if (allow.length > 1) throw new Refusal('--allow none goes with no other --allow.');
    return [];
  }
  const unknown = allow.filter((jobType) => !jobTypesKnown.includes(jobType));
  if (unknown.length > 0) {
    throw new Refusal(
      `Unknown job type ${unknown.join(', ')}. Known: ${jobTypesKnown.join(', ')}.`,
    );
  }
  return [...new Set(allow)];
}

function acceptedUrl({ configuration }: Context, url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const allowPrivateNetworks = configuration.WEBHOOK_ALLOW_PRIVATE_NETWORKS === '1';
  const check = checkWebhookUrl(url, { allowPrivateNetworks });
  if (check.kind === 'refused') throw new Refusal(`The webhook URL ${check.reason}.`);
  return check.url;
}

async function list({ store }: Context, options: OutputOptions): Promise<void> {
  const tenants = await listTenants(store, { before: null, limit: listedTenantsMax });
  const columns = ['tenantId', 'name', 'allowedJobTypes', 'webhookUrl', 'disabledAt', 'createdAt'];
  printList(tenants.map(tenantRow), columns, options);
}

async function show({ configuration, store }: Context, tenantId: string): Promise<Row> {
  const tenant = await findTenant(store, tenantId);
  const balance = await readBalance(store, tenantId);
  if (tenant === null || balance === null) throw new Refusal('There is no such tenant.');
  return {
    ...tenantRow(tenant),
    environment: configuration.SVC_ENVIRONMENT,
    balance: creditsToNumber(balance.balanceMicros),
    held: creditsToNumber(balance.heldMicros),
    available: creditsToNumber(balance.balanceMicros - balance.heldMicros),
  };
}

async function update(context: Context, tenantId: string, options: UpdateOptions): Promise<void> {
  const url = acceptedUrl(context, options.webhookUrl);
  if (url === undefined) throw new Refusal('Nothing to change: see `svc tenant update --help`.');
  const changed = await changeSettings(context.store, tenantId, { webhookUrl: url }, context.by);
  if (changed === null) throw new Refusal('There is no such tenant.');
  printRecord(await show(context, tenantId), options);
}

function tenantRow(tenant: TenantRecord): Row {
  return {
    tenantId: toWireId('tnt', tenant.id),
    name: tenant.name,
    allowedJobTypes: tenant.allowedJobTypes,
    webhookUrl: tenant.webhookUrl,
    webhookDisabled: tenant.webhookDisabled,
    lowBalanceThreshold: creditsToNumber(tenant.lowBalanceThresholdMicros),
    disabledAt: tenant.disabledAt,
    createdAt: tenant.createdAt,
  };
}
