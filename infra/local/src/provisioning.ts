import { svc } from './svc-command.ts';

export interface TenantCredentials {
  readonly tenantId: string;
  readonly hmacSecret: string;
  readonly webhookSecret: string;
}

export interface NodeCredentials {
  readonly nodeId: string;
  readonly nodeSecret: string;
}

export interface NewTenant {
  readonly name: string;
  readonly webhookUrl?: string;
  /** The initial credits, not in micros. Undefined: the default of `svc tenant create`. */
  readonly grantCredits?: number;
  /** The job types that the tenant may submit. Undefined allows all, and an empty list none. */
  readonly allow?: readonly string[];
}

/**
 * Creates a tenant with `svc` and returns its secrets, which cannot be read again later. `run` is
 * the function that runs `svc`.
 */
export async function createTenant(
  tenant: NewTenant,
  env: NodeJS.ProcessEnv,
  run = svc,
): Promise<TenantCredentials> {
  const { name, webhookUrl, grantCredits, allow } = tenant;
  const allowed = allow?.length === 0 ? ['none'] : (allow ?? []);
  const record = await run(
    [
      'tenant',
      'create',
      '--name',
      name,
      ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
      ...(grantCredits === undefined ? [] : ['--grant', `${grantCredits}`]),
      ...allowed.flatMap((jobType) => ['--allow', jobType]),
    ],
    env,
  );
  return {
    tenantId: textOf(record, 'tenantId'),
    hmacSecret: textOf(record, 'hmacSecret'),
    webhookSecret: textOf(record, 'webhookSecret'),
  };
}

/**
 * Creates a node with `svc` and returns its secret, which cannot be read again later. Without
 * `slotsMax`, the node gets the default limit of slots.
 */
export async function createNode(
  name: string,
  env: NodeJS.ProcessEnv,
  slotsMax?: number,
  run = svc,
): Promise<NodeCredentials> {
  const slots = slotsMax === undefined ? [] : ['--slots-max', `${slotsMax}`];
  const record = await run(['node', 'create', '--name', name, ...slots], env);
  return { nodeId: textOf(record, 'nodeId'), nodeSecret: textOf(record, 'nodeSecret') };
}

function textOf(record: unknown, member: string): string {
  const value = new Map(Object.entries(record ?? {})).get(member);
  if (typeof value === 'string') return value;
  throw new Error(`svc printed no ${member}`);
}
