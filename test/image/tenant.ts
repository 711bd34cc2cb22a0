import { type Client, createClient, type SubmissionRequest } from '@svc/client';
import {
  createNode,
  createTenant,
  createWebhookReceiver,
  verifyWebhook,
  type WebhookReceiver,
} from '@svc/local';
import { waitUntil } from '@svc/testkit';
import { check } from './checks.ts';
import {
  addressOf,
  type Containers,
  onNetwork,
  ownAddress,
  privateEndpoints,
} from './containers.ts';
import type { Engine } from './engine.ts';

const connectedMsMax = 60_000;
const completedMsMax = 60_000;

/** A tenant outside the containers. Its webhook endpoint is on the network of the containers. */
export interface OutsideTenant {
  readonly receiver: WebhookReceiver;
  readonly client: Client;
}

export async function checkSubmission(
  engine: Engine,
  containers: Containers,
): Promise<OutsideTenant> {
  const receiver = await createWebhookReceiver({ host: ownAddress });
  const svc = async (words: readonly string[]): Promise<unknown> =>
    JSON.parse(await containers.run('svc', [...words, '--json'], privateEndpoints));
  const tenant = await createTenant({ name: 'Verify', webhookUrl: receiver.url }, {}, svc);
  await startNode(engine, svc);
  const client = createClient({
    baseUrl: `http://${addressOf('gateway')}:8080`,
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
  });
  const { submissionId } = await client.submit(application('first'));
  const webhook = await receiver.waitFor(
    ({ event }) => event.data['submissionId'] === submissionId,
    { timeoutMs: completedMsMax },
  );
  verifyWebhook(webhook, tenant.webhookSecret);
  const { type } = webhook.event;
  check(
    'a submission completes, and its signed webhook arrives',
    type === 'submission.completed',
    `${type}, signed`,
  );
  return { receiver, client };
}

/** Starts a node in a container where the agent can write to its state directory only. */
async function startNode(
  engine: Engine,
  svc: (words: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const { nodeId, nodeSecret } = await createNode('verify', {}, 8, svc);
  const env = {
    SVC_NODE_LINK: 'ws://dispatcher:8081',
    SVC_NODE_ID: nodeId,
    SVC_NODE_SECRET: nodeSecret,
    SVC_NODE_SLOTS: '8',
    SVC_NODE_STATE_DIR: '/state',
  };
  await engine.podman(
    'run',
    '--detach',
    '--name',
    'node',
    ...onNetwork,
    '--init',
    '--cgroups',
    'disabled',
    '--log-driver',
    'k8s-file',
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop',
    'ALL',
    '--tmpfs',
    '/state:mode=1777',
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    'localhost/submission-service',
    'packages/node-agent/src/main.ts',
    '--insecure',
  );
  const isConnected = async () => (await engine.podman('logs', 'node')).includes('node.ready');
  await waitUntil(isConnected, { what: 'the node to connect', timeoutMs: connectedMsMax });
}

export function application(idempotencyKey: string): SubmissionRequest {
  return {
    idempotencyKey,
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'sandbox.succeed',
      applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  };
}
