import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { createClient, verifyWebhook } from '@svc/client';
import { fromWireId, toWireId } from '@svc/domain';
import {
  connectScriptedNode,
  type ScriptedNode,
  startStack,
  type TestStack,
  waitUntil,
} from '@svc/testkit';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditMoney } from '../support/audit.ts';
import { application, expectCall, expectWebhook, type Subject, table } from './behaviours.ts';
import { type Driver, startDriver } from './driver-process.ts';
import { type Received, runCommand, startReceiver } from './listening.ts';
import { installPacked } from './packed.ts';
import { startProxy } from './proxy.ts';
import { findPython, startPython, typescriptCommands } from './subjects.ts';

/**
 * The client libraries against a live gateway behind a proxy that breaks connections. The tests
 * use the packed TypeScript client, as tenants install it.
 */

const python = findPython();
if (python === undefined) process.stdout.write('Python 3.10+ is missing: no Python client runs.\n');
else if (!python.hasHttpx) process.stdout.write('httpx is missing: async Python is not tested.\n');

const starters: Record<string, (dir: string) => Driver> = {
  ...Object.fromEntries(
    typescriptCommands().map(([name, words]) => [
      name,
      (dir: string) => startDriver(name, [...words, 'driver.mjs'], { cwd: dir }),
    ]),
  ),
  ...(python === undefined ? {} : { Python: () => startPython(python.program, 'sync') }),
  ...(python?.hasHttpx ? { 'async Python': () => startPython(python.program, 'async') } : {}),
};

const dir = mkdtempSync(path.join(tmpdir(), 'svc-packed-'));
let stack: TestStack;
let node: ScriptedNode;
const subjects = new Map<string, Subject>();

const usageIntervalMs = 15_000;
let actions = 0;
let reporting: NodeJS.Timeout;

/**
 * The node completes all jobs except those with `sandbox.slow`. For these jobs, the node reports
 * usage but no outcome.
 */
function completeAllButSlow(): void {
  const slow = new Set<string>();
  // Usage renews the leases. If leases ended, the service would quarantine the node.
  reporting = setInterval(() => {
    actions += 1;
    for (const submissionId of slow) node.send({ type: 'usage', submissionId, usage: { actions } });
  }, usageIntervalMs);
  node.autoPilot({
    answer: (offer) => {
      if (offer.sandboxBehaviour === 'sandbox.slow') slow.add(offer.submissionId);
      return 'accept';
    },
    outcome: (submissionId) => (slow.has(submissionId) ? undefined : { completed: {} }),
  });
}

/**
 * The clients whose `fetch` repeats a request if a reused connection closes before the answer.
 * Therefore the proxy lets none of them reuse a connection.
 */
const repeatsByItself = /^(Deno|Bun)/;

async function startSubject(name: string, start: (dir: string) => Driver): Promise<Subject> {
  const tenant = await stack.createTenant({ grantCredits: 1_000_000 });
  return {
    driver: start(dir),
    proxy: await startProxy(stack.gatewayUrl, { keepsConnections: !repeatsByItself.test(name) }),
    tenantId: tenant.tenantId,
    secret: tenant.hmacSecret,
    ended: async (submissionId) => {
      await waitUntil(async () => hasEnded(await stack.svc(['submission', 'show', submissionId])));
    },
    endpointId: async () => {
      const [endpoint] = await stack.query(
        `SELECT id FROM webhook_endpoints
         WHERE tenant_id = $1 AND kind = 'poll' AND retired_at IS NULL ORDER BY created_at LIMIT 1`,
        [fromWireId('tnt', tenant.tenantId)],
      );
      return endpoint === undefined ? '' : toWireId('whe', String(endpoint['id']));
    },
  };
}

function hasEnded(submission: unknown): boolean {
  return ['submitted', 'failed', 'cancelled'].includes(Object(submission).status);
}

beforeAll(async () => {
  const [started] = await Promise.all([startStack(), installPacked(dir)]);
  stack = started;
  const credentials = await stack.createNode('scripted');
  node = await connectScriptedNode({
    link: stack.nodeLinkUrl,
    nodeId: credentials.nodeId,
    secret: credentials.nodeSecret,
    slots: 200,
  });
  completeAllButSlow();
  for (const [name, start] of Object.entries(starters)) {
    subjects.set(name, await startSubject(name, start));
  }
});
afterAll(async () => {
  for (const { driver, proxy } of subjects.values()) {
    await driver.close();
    await proxy.close();
  }
  clearInterval(reporting);
  await node.close();
  await stack.close();
  rmSync(dir, { recursive: true, force: true });
});

function subjectOf(name: string): Subject {
  const subject = subjects.get(name);
  if (subject === undefined) throw new Error(`${name} did not start`);
  return subject;
}

describe.each(Object.keys(starters))('%s', (name) => {
  test.each(table.calls)('$name', (row) => expectCall(subjectOf(name), row));
  test.each(table.webhooks)('webhook: $name', (row) => expectWebhook(subjectOf(name).driver, row));
});

const brokenShare = 0.2;
const submissions = Number(process.env['CLIENT_SUBMISSIONS'] ?? 40);
/** With this many retries, about one in a thousand runs of 2,000 submissions fails. */
const maxRetries = 8;
/** The clients' pauses are multiplied by this factor. The default keeps `npm test` short. */
const pauseFactor = Number(process.env['CLIENT_PAUSE_FACTOR'] ?? 0.01);

test.each(Object.keys(starters))(
  '%s: each of many submissions arrives once, although a fifth of all connections break',
  async (name) => {
    const subject = subjectOf(name);
    const { driver, proxy, tenantId, secret } = subject;
    let broken = 0;
    let requests = 0;
    proxy.plan(['pass']);
    proxy.decide(() => {
      requests += 1;
      if (Math.random() >= brokenShare) return 'pass';
      broken += 1;
      return (['cut', 'lose', 'truncate'] as const)[broken % 3] ?? 'cut';
    });
    const keys = Array.from({ length: submissions }, (_, index) => `${name} ${index}`);
    const run = {
      keys,
      submission: application('sandbox.succeed'),
      atOnce: 8,
      maxRetries,
      pauseFactor,
    };
    const { ok } = await driver.ask({ do: 'submitAll', baseUrl: proxy.url, tenantId, secret, run });
    const { ids, errors, pauses } = Object(ok);
    expect(errors).toEqual([]);
    expect(Object.keys(ids).toSorted()).toEqual(keys.toSorted());
    expect(new Set(Object.values(ids)).size).toBe(submissions);
    const stored = await stack.query(
      `SELECT idempotency_key, count(*)::int AS held FROM submissions
       WHERE idempotency_key LIKE '${name} %' AND state <> 'rejected' GROUP BY 1`,
    );
    expect(stored).toHaveLength(submissions);
    expect(stored.filter(({ held }) => held !== 1)).toEqual([]);
    expect(broken).toBeGreaterThan(0);
    expect(await auditMoney(stack.query)).toEqual([]);
    process.stdout.write(
      `${name}: ${submissions} submissions, ${requests} requests, ${broken} broken, ${pauses} pauses, ${errors.length} errors\n`,
    );
  },
);

describe('the packed commands', () => {
  const program = path.join(dir, 'node_modules/@svc/client/dist/cli/main.js');

  test('listen forwards what trigger causes, signed, until the receiver accepts it', async () => {
    const tenant = await stack.createTenant({ grantCredits: 10_000 });
    const { tenantId, hmacSecret: secret } = tenant;
    const env = {
      SVC_BASE_URL: stack.gatewayUrl,
      SVC_TENANT_ID: tenantId,
      SVC_HMAC_SECRET: secret,
    };
    const client = createClient({ baseUrl: stack.gatewayUrl, tenantId, secret });
    const [local, pushed] = await Promise.all([startReceiver([500, 204]), startReceiver([204])]);
    const { secret: pushSecret, id } = await client.createWebhookEndpoint({
      url: pushed.url,
      events: ['submission.completed'],
    });
    const words = ['listen', '--json', '--events', 'submission.completed'];
    const listener = runCommand(program, [...words, '--forward-to', local.url], env);
    try {
      const ready = await waitUntil(async () =>
        listener.lines.find(({ kind }) => kind === 'ready'),
      );
      const trigger = runCommand(program, ['trigger', 'submission.completed', '--json'], env);
      expect([await trigger.ended, trigger.errors()]).toEqual([0, '']);
      expect(trigger.lines).toMatchObject([{ event: 'submission.completed', status: 'submitted' }]);
      await waitUntil(async () => local.received.length === 2 && pushed.received.length === 1);
      const [refused, accepted] = local.received;
      const [push] = pushed.received;
      const byListener = await verifyReceived(accepted, String(ready['secret']));
      const byService = await verifyReceived(push, pushSecret);
      expect(byListener.event).toEqual(byService.event);
      // The listener forwards the same bytes that the service posts.
      expect(accepted?.body).toBe(push?.body);
      expect([refused, accepted].map((one) => one?.headers['x-svc-attempt'])).toEqual(['1', '2']);
      expect(refused?.headers['webhook-id']).toBe(byListener.deliveryId);
      await waitUntil(async () => listener.lines.some(({ isOk }) => isOk === true));
    } finally {
      listener.interrupt();
      local.close();
      pushed.close();
    }
    expect([await listener.ended, listener.errors()]).toEqual([0, '']);
    expect((await client.listWebhookEndpoints()).data.map((one) => one.id)).toEqual([id]);
  });

  test('trigger causes a low balance even while credits are held', async () => {
    const tenant = await stack.createTenant({ grantCredits: 1_000 });
    const { tenantId, hmacSecret: secret } = tenant;
    const client = createClient({ baseUrl: stack.gatewayUrl, tenantId, secret });
    const receiver = await startReceiver([204]);
    try {
      await client.createWebhookEndpoint({ url: receiver.url, events: ['credits.low_balance'] });
      await client.submit(application('sandbox.slow'));
      expect((await client.balance()).held).toBeGreaterThan(1);
      const trigger = runCommand(program, ['trigger', 'credits.low_balance', '--json'], {
        SVC_BASE_URL: stack.gatewayUrl,
        SVC_TENANT_ID: tenantId,
        SVC_HMAC_SECRET: secret,
      });
      expect([await trigger.ended, trigger.errors()]).toEqual([0, '']);
      await waitUntil(async () => receiver.received.length === 1);
    } finally {
      receiver.close();
    }
  });

  test('a missing credential is wrong usage, and names its variable', async () => {
    const { ended, errors } = runCommand(program, ['listen'], { SVC_BASE_URL: stack.gatewayUrl });
    expect(await ended).toBe(2);
    expect(errors()).toContain('SVC_TENANT_ID is not set');
  });

  test('a refused credential is an error that says what to check', async () => {
    const { ended, errors } = runCommand(program, ['listen'], {
      SVC_BASE_URL: stack.gatewayUrl,
      SVC_TENANT_ID: subjectOf(Object.keys(starters)[0] ?? '').tenantId,
      SVC_HMAC_SECRET: 'hsk_test_wrong',
    });
    expect(await ended).toBe(1);
    expect(errors()).toContain('Check SVC_TENANT_ID, SVC_HMAC_SECRET');
  });
});

async function verifyReceived(received: Received | undefined, secret: string) {
  if (received === undefined) throw new Error('the receiver got no webhook');
  return verifyWebhook({ secret, ...received });
}

describe('the packed TypeScript client', () => {
  const packed = path.join(dir, 'node_modules/@svc/client');
  const bytesMax = 11 * 1024;

  test('has at most 11 KB when minified', async () => {
    const bundle = await rolldown({ input: path.join(packed, 'dist/index.js') });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    await bundle.close();
    expect(Buffer.byteLength(output[0].code)).toBeLessThanOrEqual(bytesMax);
  });

  test('has no dependencies, and its version is the one that it sends', () => {
    const manifest = JSON.parse(readFileSync(path.join(packed, 'package.json'), 'utf8'));
    expect(manifest.dependencies).toEqual({});
    expect(readFileSync(path.join(packed, 'dist/version.js'), 'utf8')).toContain(
      `'${manifest.version}'`,
    );
  });
});
