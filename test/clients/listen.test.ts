import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@svc/client';
import {
  connectScriptedNode,
  type ScriptedNode,
  startStack,
  type TestStack,
  waitUntil,
} from '@svc/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Running, runCommand, startReceiver } from './listening.ts';
import { type ProxyAction, startProxy } from './proxy.ts';

/**
 * Tests the client's command `listen` from its source and not from the packed client. A proxy
 * before the gateway makes some requests fail.
 */

const program = path.resolve(import.meta.dirname, '../../packages/client/src/cli/main.ts');
let stack: TestStack;
let node: ScriptedNode;

beforeAll(async () => {
  stack = await startStack();
  const { nodeId, nodeSecret: secret } = await stack.createNode('scripted');
  node = await connectScriptedNode({ link: stack.nodeLinkUrl, nodeId, secret, slots: 10 });
  node.autoPilot();
});
afterAll(async () => {
  await node.close();
  await stack.close();
});

async function developer() {
  const tenant = await stack.createTenant({ grantCredits: 10_000 });
  const { tenantId, hmacSecret: secret } = tenant;
  const proxy = await startProxy(stack.gatewayUrl, { keepsConnections: true });
  const stateDir = mkdtempSync(path.join(tmpdir(), 'svc-listen-'));
  onTestFinished(async () => {
    await proxy.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const env = {
    SVC_BASE_URL: proxy.url,
    SVC_TENANT_ID: tenantId,
    SVC_HMAC_SECRET: secret,
    XDG_STATE_HOME: stateDir,
  };
  const client = createClient({ baseUrl: stack.gatewayUrl, tenantId, secret });
  return { client, proxy, env };
}

async function listening(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<Running> {
  const listener = runCommand(program, ['listen', '--json', ...words], env);
  await waitUntil(async () => listener.lines.some(({ kind }) => kind === 'ready'), {
    what: `the listener to be ready: ${listener.errors()}`,
  });
  return listener;
}

async function stop(listener: Running): Promise<void> {
  listener.interrupt();
  expect([await listener.ended, listener.errors()]).toEqual([0, '']);
}

const deliveriesOf = (listener: Running) =>
  listener.lines.flatMap(({ kind, deliveryId }) => (kind === 'event' ? [deliveryId] : []));

const failures: readonly ProxyAction[] = [
  { status: 429, headers: { 'retry-after': '1' }, problem: { code: 'rate_limited' } },
  { status: 503, headers: { 'retry-after': '1' }, problem: { code: 'unavailable' } },
  'cut',
  'lose',
  'truncate',
];

test('listen forwards each event once through 429, 503 and cut connections', async () => {
  const { client, proxy, env } = await developer();
  const local = await startReceiver([204]);
  onTestFinished(() => local.close());
  const listener = await listening(env, ['--forward-to', local.url]);
  let changes = 0;
  const change = () => client.changeSettings({ lowBalanceThreshold: (changes += 1) });
  for (const action of failures) {
    proxy.plan([action, 'pass']);
    // The event of this change ends the open request of the listener. The proxy applies `action` to
    // the listener's next request, which then fails.
    await change();
    await waitUntil(async () => proxy.seen.length > 0);
    await change();
    await waitUntil(async () => local.received.length === changes);
  }
  await stop(listener);
  const ids = local.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(2 * failures.length);
  expect(deliveriesOf(listener)).toEqual(ids);
});

test('listen with a name reads on where the previous run ended, and keeps its endpoint', async () => {
  const { client, env } = await developer();
  const change = (lowBalanceThreshold: number) => client.changeSettings({ lowBalanceThreshold });
  const first = await listening(env, ['--name', 'laptop']);
  await change(1);
  await waitUntil(async () => deliveriesOf(first).length === 1);
  await stop(first);
  await change(2);
  await change(3);
  const second = await listening(env, ['--name', 'laptop']);
  await waitUntil(async () => deliveriesOf(second).length === 2);
  await stop(second);
  const all = [...deliveriesOf(first), ...deliveriesOf(second)];
  expect(new Set(all).size).toBe(3);
  const { data } = await client.listWebhookEndpoints();
  expect(data.map(({ kind, description }) => [kind, description])).toEqual([
    ['poll', 'svc listen: laptop'],
  ]);
});
