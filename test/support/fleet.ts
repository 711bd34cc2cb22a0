import { slotsMaxMax, toWireId } from '@svc/domain';
import { closeRedis, connectRedis, createFleetRegistry, waitForRedis } from '@svc/queue';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { createNode, openStore, type Store } from '@svc/store';
import {
  connectScriptedNode,
  createWebhookReceiver,
  type ScriptedNode,
  startStack,
  testAuthor,
  testMasterKey,
  type TestStack,
  waitUntil,
  type WebhookReceiver,
} from '@svc/testkit';
import { onTestFinished } from 'vitest';
import { openAccounts } from './accounts.ts';
import { clientOf, type Journey, redisPrefix } from './journey.ts';

interface FleetNodeOptions {
  readonly dispatcher?: number;
  readonly slots?: number;
  readonly running?: readonly string[];
}

export interface FleetNode extends ScriptedNode {
  readonly dispatcher: number;
  /** Connects the same node again. The service ends the older link. */
  again(options?: FleetNodeOptions): Promise<FleetNode>;
}

export interface Fleet {
  readonly stack: TestStack;
  journey(): Promise<Journey>;
  node(options?: FleetNodeOptions): Promise<FleetNode>;
  /** Links ten nodes, alternately to the two dispatchers. `slotsOf` returns a node's slots. */
  ten(slotsOf: (index: number) => number): Promise<FleetNode[]>;
  /**
   * The slots for `ats.application` in the registry: all of them, and the free ones. Nodes that are
   * draining or in quarantine do not count.
   */
  slots(): Promise<{ readonly slots: number; readonly free: number }>;
  close(): Promise<void>;
}

const creditsOfTenant = 100_000;

export async function startFleet(): Promise<Fleet> {
  const [stack, receiver] = await Promise.all([
    startStack({ dispatchers: 2 }),
    createWebhookReceiver(),
  ]);
  const accounts = openAccounts(stack);
  const { databaseUrl } = stack;
  const sealer = createSealer(openKeyring(testMasterKey()));
  const store = openStore({ databaseUrl, sealer, newId });
  const redis = connectRedis(stack.redisUrl, 'producer');
  await waitForRedis(redis, 5_000);
  const registry = createFleetRegistry({ redis, prefix: redisPrefix });
  const node: Fleet['node'] = async (options = {}) => {
    const secret = `nsk_${newId()}`;
    const id = newId();
    await createNode(store, { id, name: 'scripted', secret, slotsMax: slotsMaxMax }, testAuthor);
    const linked = await link(stack, { nodeId: toWireId('nod', id), secret }, options);
    onTestFinished(() => nodeIsGone(store, id));
    return linked;
  };
  return {
    stack,
    async journey() {
      // Without this, tenants of earlier tests could still count as asking for slots.
      const contentions = await redis.keys('*:fleet:contention:*');
      if (contentions.length > 0) await redis.del(contentions);
      return await journeyOn(stack, receiver, accounts);
    },
    node,
    ten: (slotsOf) =>
      Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          node({ dispatcher: index % 2, slots: slotsOf(index) }),
        ),
      ),
    slots: () => registry.capacity('ats.application'),
    async close() {
      await closeRedis(redis);
      await store.close();
      await accounts.close();
      await stack.close();
      await receiver.close();
    },
  };
}

async function journeyOn(
  stack: TestStack,
  receiver: WebhookReceiver,
  accounts: ReturnType<typeof openAccounts>,
): Promise<Journey> {
  const tenant = await accounts.tenant({
    webhookUrl: receiver.url,
    grantCredits: creditsOfTenant,
  });
  return { stack, accounts, tenant, receiver, client: clientOf(tenant, stack.gatewayUrl) };
}

interface Identity {
  readonly nodeId: string;
  readonly secret: string;
}

async function link(
  stack: TestStack,
  identity: Identity,
  options: FleetNodeOptions,
): Promise<FleetNode> {
  const { dispatcher = 0, slots = 1, running = [] } = options;
  const url = stack.nodeLinkUrls[dispatcher] ?? '';
  const node = await connectScriptedNode({ link: url, ...identity, slots, running });
  onTestFinished(() => node.cut());
  const again = (next: FleetNodeOptions = {}): Promise<FleetNode> =>
    link(stack, identity, { dispatcher, slots, ...next });
  return { ...node, dispatcher, again };
}

/**
 * Makes the leases and start deadlines of a node's submissions expire, and waits until these
 * submissions have ended. Otherwise they could still run in the next test.
 */
async function nodeIsGone(store: Store, nodeId: string): Promise<void> {
  await waitUntil(async () => {
    // Each pass of `waitUntil` repeats the UPDATE, because a `start` or a report in flight may
    // renew a lease.
    await store.query(
      `UPDATE submissions SET lease_expires_at = svc_now(), start_deadline_at = svc_now()
       WHERE node_id = $1::uuid AND state IN ('dispatched', 'running')
         AND (lease_expires_at > svc_now() OR start_deadline_at > svc_now())`,
      [nodeId],
    );
    const left = await store.query(
      `SELECT 1 FROM submissions
       WHERE node_id = $1::uuid AND state IN ('dispatched', 'running', 'settling')`,
      [nodeId],
    );
    return left.length === 0;
  });
}
