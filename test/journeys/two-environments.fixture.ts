import { createNode, createTenant, type TenantCredentials } from '@svc/local';
import {
  bareEnvironment,
  connectScriptedNode,
  createWebhookReceiver,
  type NodeCredentials,
  newMasterKey,
  type ScriptedNode,
  startStack,
  svcJson,
  type TestStack,
  type WebhookReceiver,
} from '@svc/testkit';
import type { OperatorKey } from '../support/accounts.ts';
import { send, signedBy, type WireAnswer, type WireRequest } from '../support/wire.ts';

/**
 * One environment as its operators run it: with TLS and with a separate master key. The operator,
 * the tenants and the node are created with `svc`.
 */
export interface Environment {
  readonly stack: TestStack;
  readonly operator: OperatorKey;
  readonly tenant: TenantCredentials;
  /** A tenant without credits. */
  readonly pauper: TenantCredentials;
  readonly nodeCredentials: NodeCredentials;
  readonly node: ScriptedNode;
  readonly receiver: WebhookReceiver;
  readonly context: NodeJS.ProcessEnv;
  readonly ask: (wire: WireRequest) => Promise<WireAnswer>;
  readonly askAs: (tenant: TenantCredentials, wire: WireRequest) => Promise<WireAnswer>;
  close(): Promise<void>;
}

export const failedHost = 'fails.example.com';
export const declinedHost = 'declines.example.com';

export async function startEnvironment(name: 'sandbox' | 'production'): Promise<Environment> {
  const env = {
    SVC_ENVIRONMENT: name,
    SVC_MASTER_KEY: newMasterKey(),
  };
  const [stack, receiver] = await Promise.all([
    startStack({ tls: true, env }),
    createWebhookReceiver(),
  ]);
  const { databaseUrl, redisUrl, gatewayUrl, nodeLinkUrl: link, ca = '' } = stack;
  const bare = {
    ...bareEnvironment(),
    ...env,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
  };
  const operator = await createOperator(bare);
  const context = {
    ...bare,
    SVC_OPERATOR_ID: operator.operatorId,
    SVC_OPERATOR_SECRET: operator.secret,
  };
  const [tenant, pauper, nodeCredentials] = await Promise.all([
    createTenant(
      { name: 'Example', webhookUrl: receiver.url, grantCredits: 2_000 },
      context,
      svcJson,
    ),
    createTenant({ name: 'Pauper', grantCredits: 0 }, context, svcJson),
    createNode('attic', context, undefined, svcJson),
  ]);
  const { nodeId, nodeSecret: secret } = nodeCredentials;
  const node = await connectScriptedNode({ link, nodeId, secret, ca, slots: 100 });
  pilot(node);
  const ask = (wire: WireRequest) => send(gatewayUrl, wire, undefined, ca);
  return {
    stack,
    operator,
    tenant,
    pauper,
    nodeCredentials,
    node,
    receiver,
    context,
    ask,
    askAs: (who, wire) => ask(signedBy(who, wire)),
    async close() {
      await node.close();
      await stack.close();
      await receiver.close();
    },
  };
}

async function createOperator(context: NodeJS.ProcessEnv): Promise<OperatorKey> {
  const record = Object(await svcJson(['operator', 'create', '--name', 'Ana'], context));
  return { operatorId: String(record.operatorId), secret: String(record.operatorSecret) };
}

/**
 * Makes the node behave the same in every environment: the target host alone decides how the node
 * answers an offer and which outcome it reports.
 */
function pilot(node: ScriptedNode): void {
  const failing = new Set<string>();
  node.autoPilot({
    answer({ targetHost, submissionId }) {
      if (targetHost === failedHost) failing.add(submissionId);
      return targetHost === declinedHost ? 'decline' : 'accept';
    },
    outcome: (submissionId) =>
      failing.has(submissionId)
        ? { failed: { code: 'captcha', message: 'A captcha was asked for.' }, usage: {} }
        : { completed: { confirmationId: 'GH-1', details: { n: 1 } }, usage: { actions: 7 } },
  });
}
