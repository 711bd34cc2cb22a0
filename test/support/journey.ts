import {
  ApiError,
  type Client,
  createClient,
  type SubmissionRequest,
  type Tier,
} from '@svc/client';
import { closeRedis, connectRedis, createFleetRegistry, waitForRedis } from '@svc/queue';
import {
  connectScriptedNode,
  createWebhookReceiver,
  type ScriptedNode,
  type ReceivedWebhook,
  type StackOptions,
  startStack,
  type TenantCredentials,
  type TestStack,
  verifyWebhook,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { afterAll, expect, onTestFinished } from 'vitest';
import { type Accounts, openAccounts } from './accounts.ts';
import { auditMoney } from './audit.ts';

export interface Journey {
  readonly stack: TestStack;
  readonly accounts: Accounts;
  readonly tenant: TenantCredentials;
  readonly client: Client;
  readonly receiver: WebhookReceiver;
}

export interface JourneyOptions extends StackOptions {
  readonly credits?: number;
}

const creditsDefault = 5_000;
const redisBoundMs = 5_000;
/** The default of the services' `REDIS_PREFIX`. */
export const redisPrefix = 'svc';

/** The stack is closed at the end of the test. */
export async function startJourney(options: JourneyOptions = {}): Promise<Journey> {
  const stack = await startStack(options);
  const accounts = openAccounts(stack);
  onTestFinished(async () => {
    await accounts.close();
    await stack.close();
  });
  return journeyOn(stack, accounts, options.credits);
}

/**
 * Each call of the returned function gives a journey on the same stack, with a new tenant. The
 * stack is closed after the file or `describe` block that calls `shareStack`.
 */
export function shareStack(options: StackOptions = {}): (credits?: number) => Promise<Journey> {
  let starting: Promise<{ stack: TestStack; accounts: Accounts }> | undefined;
  const start = async () => {
    const stack = await startStack(options);
    return { stack, accounts: openAccounts(stack) };
  };
  afterAll(async () => {
    if (starting === undefined) return;
    const { stack, accounts } = await starting;
    await accounts.close();
    await stack.close();
  });
  return async (credits) => {
    starting ??= start();
    const { stack, accounts } = await starting;
    if (options.nodes !== undefined && options.nodes > 0) await nodesAreFree(stack, options);
    return journeyOn(stack, accounts, credits);
  };
}

/**
 * Waits until the simulated nodes are linked and free, because an earlier test may have used them
 * or killed their dispatcher.
 */
async function nodesAreFree(
  stack: TestStack,
  { nodes = 0, dispatchers = 1 }: StackOptions,
): Promise<void> {
  const { redisUrl, query } = stack;
  const redis = connectRedis(redisUrl, 'producer');
  const registry = createFleetRegistry({ redis, prefix: redisPrefix });
  const isFree = async () => {
    const busy = await query("SELECT id FROM submissions WHERE state IN ('dispatched', 'running')");
    const { slots, free } = await registry.capacity('ats.application');
    if (busy.length > 0 || slots === 0 || free < slots) return false;
    // The registry may still have the nodes of a killed dispatcher, so the number of open
    // links is checked too.
    const links = await Promise.all(
      Array.from({ length: dispatchers }, (_, index) => linksOf(stack, index)),
    );
    return links.reduce((sum, count) => sum + count, 0) >= nodes;
  };
  try {
    await waitForRedis(redis, redisBoundMs);
    await waitUntil(isFree, { what: 'the simulated nodes to be free', timeoutMs: 30_000 });
  } finally {
    await closeRedis(redis);
  }
}

async function linksOf(stack: TestStack, dispatcher: number): Promise<number> {
  const response = await fetch(`${stack.adminUrl('dispatcher', dispatcher)}/metrics`);
  const metrics = await response.text();
  const [, links] = /^svc_dispatcher_links\S* (\d+)$/m.exec(metrics) ?? [];
  if (links === undefined) throw new Error('the dispatcher does not expose svc_dispatcher_links');
  return Number(links);
}

async function journeyOn(
  stack: TestStack,
  accounts: Accounts,
  credits = creditsDefault,
): Promise<Journey> {
  const receiver = await createWebhookReceiver();
  onTestFinished(() => receiver.close());
  const tenant = await accounts.tenant({ webhookUrl: receiver.url, grantCredits: credits });
  return { stack, accounts, tenant, receiver, client: clientOf(tenant, stack.gatewayUrl) };
}

export function clientOf(tenant: TenantCredentials, baseUrl: string): Client {
  return createClient({
    baseUrl,
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
    // Without retries, a test sees each error that the service answers.
    maxRetries: 0,
  });
}

/** A valid application. `atsType` selects what simulated nodes do with it (CONTRACT 7). */
export function application(
  idempotencyKey: string,
  atsType = 'sandbox.succeed',
  tier?: Tier,
): SubmissionRequest {
  return {
    idempotencyKey,
    jobType: 'ats.application',
    ...(tier === undefined ? {} : { tier }),
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType,
      applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  };
}

/**
 * Returns the ApiError with which the call fails. Throws if the call succeeds or fails with another
 * error.
 */
export async function refusal(call: Promise<unknown>): Promise<ApiError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error('the call did not fail with an ApiError', { cause: outcome });
}

/**
 * Waits for a webhook whose event has the type `type` and is about the submission. Throws if none
 * arrives within `timeoutMs`, or if its signature is invalid.
 */
export async function eventOf(
  { receiver, tenant }: Journey,
  submissionId: string,
  type: string,
  { timeoutMs = 20_000 } = {},
): Promise<ReceivedWebhook> {
  const webhook = await receiver.waitFor(
    ({ event }) => event.type === type && event.data['submissionId'] === submissionId,
    { timeoutMs },
  );
  verifyWebhook(webhook, tenant.webhookSecret);
  return webhook;
}

export async function expectMoney(
  { stack, client }: Journey,
  expected: { balance: number; held: number },
): Promise<void> {
  expect(await auditMoney(stack.query)).toEqual([]);
  expect(await client.balance()).toMatchObject({
    ...expected,
    available: Math.round((expected.balance - expected.held) * 1e6) / 1e6,
  });
}

/** The distinct deliveries that arrived for a submission, each as `<event type> <delivery id>`. */
export function endingEvents({ receiver }: Journey, submissionId: string): string[] {
  const webhooks = receiver.received.filter(
    ({ event }) => event.data['submissionId'] === submissionId,
  );
  return [...new Set(webhooks.map(({ deliveryId, event }) => `${event.type} ${deliveryId}`))];
}

export interface ConnectedNode extends ScriptedNode {
  /** Opens another link of the node. Its `hello` names the submissions in `running`. */
  readonly reconnect: (running?: readonly string[]) => Promise<ConnectedNode>;
}

export async function connectNode(
  { stack, accounts }: Pick<Journey, 'stack'> & Partial<Journey>,
  options: { slots?: number; dispatcher?: number } = {},
): Promise<ConnectedNode> {
  const { nodeId, nodeSecret: secret } = await (accounts?.node('scripted') ??
    stack.createNode('scripted'));
  const link = stack.nodeLinkUrls[options.dispatcher ?? 0] ?? '';
  const connect = async (running: readonly string[]): Promise<ConnectedNode> => {
    const slots = options.slots ?? 1;
    const node = await connectScriptedNode({ link, nodeId, secret, slots, running });
    onTestFinished(() => node.close());
    return { ...node, reconnect: (again = []) => connect(again) };
  };
  return connect([]);
}
