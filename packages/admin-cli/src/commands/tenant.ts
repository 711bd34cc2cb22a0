import { randomBytes } from 'node:crypto';
import { signupGrantDefaultMicros, toWireId } from '@svc/domain';
import { newId } from '@svc/runtime';
import { newSecret } from '@svc/signing';
import { listTenants, createTenant, setTenantEnabled } from '@svc/store';
import type { Command } from 'commander';
import { collect, creditsArgument, idArgument, nameArgument } from '../arguments.ts';
import { addCommand, addYesOption, type CommandOptions } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, withContext } from '../context.ts';
import { printList, printRecord } from '../output.ts';
import { acceptedUrl, allowedJobTypes } from './tenant-input.ts';
import { unknownTenant, showTenant, tenantRow } from './tenant-output.ts';
import { addRotateSecretCommand } from './tenant-rotate-secret.ts';
import { addUpdateCommand } from './tenant-update.ts';

const listedTenantsMax = 1_000;

interface CreateOptions extends CommandOptions {
  name: string;
  allow?: string[];
  webhookUrl?: string;
  grant?: bigint;
}

interface ListOptions extends CommandOptions {
  readonly before?: string;
}

/** `svc tenant …` (CONTRACT 9). */
export function addTenantCommands(tenant: Command): void {
  addCommand(tenant, 'create', {
    does: 'create a tenant and show its secrets; they are not shown again',
    examples: ['svc tenant create --name "Example Works" --grant 500'],
  })
    .requiredOption('--name <name>', 'a display name', nameArgument)
    .option(
      '--allow <jobType>',
      'a job type that the tenant may submit (repeatable; default: all); `none` forbids all types',
      collect,
    )
    .option('--webhook-url <url>', 'the URL for its webhooks')
    .option(
      '--grant <credits>',
      'the initial credits (default: 10000 in a sandbox, else 0)',
      creditsArgument,
    )
    .action((options: CreateOptions) => withContext((context) => create(context, options)));
  addCommand(tenant, 'list', {
    does: `list tenants, newest first, at most ${listedTenantsMax}`,
    examples: ['svc tenant list', 'svc tenant list --before tnt_…'],
  })
    .option('--before <tenant>', 'only tenants older than this one, tnt_…', idArgument('tnt'))
    .action((options: ListOptions) => withContext((context) => list(context, options)));
  addCommand(tenant, 'show', { does: 'show one tenant', examples: ['svc tenant show tnt_…'] })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((id: string, options: CommandOptions) =>
      withContext(async (context) => printRecord(await showTenant(context, id), options)),
    );
  addUpdateCommand(tenant);
  const disabling = addCommand(tenant, 'disable', {
    does: 'disable the keys of a tenant; its submissions in flight continue',
    examples: ['svc tenant disable tnt_…', 'svc tenant disable tnt_… --yes'],
  });
  addYesOption(disabling)
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => setEnabled(context, id, false, options)),
    );
  addCommand(tenant, 'enable', {
    does: 'enable the keys of a tenant again',
    examples: ['svc tenant enable tnt_…'],
  })
    .argument('<tenant>', 'its id, tnt_…', idArgument('tnt'))
    .action((id: string, options: CommandOptions) =>
      withContext((context) => setEnabled(context, id, true, options)),
    );
  addRotateSecretCommand(tenant);
}

async function create(context: Context, options: CreateOptions): Promise<void> {
  const { configuration, store, by } = context;
  const sandbox = configuration.SVC_ENVIRONMENT === 'sandbox';
  const id = newId();
  const { webhookUrl } = options;
  const tenant = {
    id,
    name: options.name,
    allowedJobTypes: allowedJobTypes(options.allow),
    webhookUrl: webhookUrl === undefined ? null : acceptedUrl(context, webhookUrl),
    hmacSecret: newSecret(sandbox ? 'hsk_test' : 'hsk_live', randomBytes),
    webhookSecret: newSecret('whsec', randomBytes),
  };
  const grantMicros = options.grant ?? (sandbox ? signupGrantDefaultMicros : 0n);
  await createTenant(store, tenant, grantMicros, by);
  const { hmacSecret, webhookSecret } = tenant;
  // The secrets are shown even if the tenant cannot be read again: nothing else shows them.
  const shown = await showTenant(context, id).catch(() => ({ tenantId: toWireId('tnt', id) }));
  printRecord({ ...shown, hmacSecret, webhookSecret }, options);
}

async function list({ store }: Context, options: ListOptions): Promise<void> {
  const { before = null } = options;
  const tenants = await listTenants(store, { before, limit: listedTenantsMax });
  const columns = ['tenantId', 'name', 'allowedJobTypes', 'webhookUrl', 'disabledAt', 'createdAt'];
  printList(tenants.map(tenantRow), columns, options);
}

async function setEnabled(
  context: Context,
  tenantId: string,
  isEnabled: boolean,
  options: CommandOptions,
): Promise<void> {
  if (!isEnabled) await confirm(`Disable the keys of ${toWireId('tnt', tenantId)}?`, options);
  const changed = await setTenantEnabled(context.store, tenantId, isEnabled, context.by);
  if (changed === null) throw unknownTenant();
  printRecord(await showTenant(context, tenantId), options);
}
