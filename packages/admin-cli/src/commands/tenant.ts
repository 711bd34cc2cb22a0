import { randomBytes } from 'node:crypto';
import { checkWebhookUrl, creditsToNumber, signupGrantDefaultMicros, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import {
  findTenant,
  listTenants,
  openTenant,
  readBalance,
  setWebhookUrl,
  type TenantRecord,
} from '@svc/store';
import type { Command } from 'commander';
import { collect, creditsArgument, idArgument, nameArgument } from '../arguments.ts';
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
export function addTenantCommands(program: Command): void {
  const tenant = program.command('tenant').description('tenants and their settings');
  tenant
    .command('create')
    .description('create a tenant; its secrets are shown this once')
    .requiredOption('--name <name>', 'a name for people', nameArgument)
    .option('--allow <jobType>', 'a job type it may submit, or none (repeatable)', collect)
    .option('--webhook-url <url>', 'where its events go')
    .option('--grant <credits>', 'credits to begin with (sandbox: 10000)', creditsArgument)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  $ svc tenant create --name "Example Works" --grant 500')
    .action((options: CreateOptions) => withContext((context) => create(context, options)));
  tenant
    .command('list')
    .description('the newest tenants')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) => withContext((context) => list(context, options)));
  tenant
    .command('show')
    .description('one tenant')
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option('--json', 'print JSON')
    .action((id: string, options: OutputOptions) =>
      withContext(async (context) => printRecord(await show(context, id), options)),
    );
  tenant
    .command('update')
    .description('change settings of a tenant')
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .option('--webhook-url <url>', 'where its events go; setting it enables it again')
    .option('--json', 'print JSON')
    .action((id: string, options: UpdateOptions) =>
      withContext((context) => update(context, id, options)),
    );
}

async function create(context: Context, options: CreateOptions): Promise<void> {
  const { configuration, store } = context;
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
  await openTenant(store, tenant, grantMicros);
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
  if (!(await setWebhookUrl(context.store, tenantId, url))) {
    throw new Refusal('There is no such tenant.');
  }
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
