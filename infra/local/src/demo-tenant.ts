import type { Closer } from './closer.ts';
import { type DemoState, readDemoState, writeDemoState } from './demo-state.ts';
import { isPortFree } from './ports.ts';
import type { Say } from './progress.ts';
import { createNode, createTenant } from './provisioning.ts';
import { CommandError } from './run-command.ts';
import { svc } from './svc-command.ts';
import { createWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface DemoWorld extends DemoState {
  /** Undefined if no webhook may go to this machine. The demo then polls its events. */
  readonly receiver: WebhookReceiver | undefined;
}

export interface DemoPlan {
  readonly dir: string;
  /** DATABASE_URL of the environment, or undefined for the embedded database. */
  readonly givenDatabaseUrl: string | undefined;
  readonly simulatedNodes: number;
  readonly needsBrowserNode: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly closer: Closer;
  readonly say: Say;
}

/**
 * Prepares the tenant and the nodes of the demo. If the database still has the tenant of the last
 * start, uses this tenant and the nodes of that start. Creates what is missing.
 */
export async function prepareDemoWorld(plan: DemoPlan): Promise<DemoWorld> {
  const { dir, givenDatabaseUrl, simulatedNodes, needsBrowserNode, env, closer, say } = plan;
  const kept = readDemoState(dir, givenDatabaseUrl);
  const receiver =
    env['WEBHOOK_ALLOW_PRIVATE_NETWORKS'] === '1'
      ? await openReceiver(kept?.webhookPort ?? 0)
      : undefined;
  if (receiver !== undefined) await closer.add(() => receiver.close());
  const known =
    kept !== undefined && (await pointWebhooksAt(receiver?.url ?? 'none', kept, env)) ? kept : null;
  const webhook = receiver === undefined ? {} : { webhookUrl: receiver.url };
  const tenant = known?.tenant ?? (await createTenant({ name: 'Demo', ...webhook }, env));
  say(`tenant ${tenant.tenantId}${known === null ? ' created' : ''}`);
  const nodes = [...(known?.nodes ?? [])];
  while (nodes.length < simulatedNodes) {
    nodes.push(await createNode(`simulated ${nodes.length + 1}`, env));
  }
  const browserNode =
    known?.browserNode ?? (needsBrowserNode ? await createNode('browser demo', env) : undefined);
  const state = {
    tenant,
    webhookPort: receiver?.port ?? kept?.webhookPort ?? 0,
    nodes,
    ...(browserNode === undefined ? {} : { browserNode }),
  };
  writeDemoState(dir, givenDatabaseUrl, state);
  return { ...state, receiver };
}

async function openReceiver(port: number): Promise<WebhookReceiver> {
  const isFree = port !== 0 && (await isPortFree(port));
  return createWebhookReceiver({ port: isFree ? port : 0 });
}

/** Returns false if `svc` fails, for example because the database does not have the tenant. */
async function pointWebhooksAt(
  url: string,
  { tenant }: DemoState,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  try {
    await svc(['tenant', 'update', tenant.tenantId, '--webhook-url', url], env);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
