import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createClient, type Client } from '@svc/client';
import {
  createNode,
  createTenant,
  serviceEntry,
  serviceEnvironment,
  startPostgres,
  startRedis,
  startServiceProcess,
  type ServiceName,
} from '@svc/local';
import { migrate } from '@svc/store';
import { connectScriptedNode, type ScriptedNode } from '@svc/testkit';

/**
 * From the tenant's `200` to its cancel to the node's `cancel` frame, both seen by this process:
 * through real services, with the node's link at either of two dispatchers. A frame that came
 * before the answer counts as 0.
 *
 *   pnpm bench:cancel [--cancels 1000] [--at-once 8]
 */
const { values } = parseArgs({
  options: {
    cancels: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '8' },
  },
});
const cancels = Number(values.cancels);
const atOnce = Number(values['at-once']);
const slotsPerNode = 100;
/** So that no tenant reaches its rate limit. */
const tenantsPerWorker = 2;

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-cancel-'));
const postgres = await startPostgres({ dir, durable: true, connectionsMax: 100 });
const redis = await startRedis({ dir, durable: false });
try {
  await bench();
} finally {
  await redis.stop();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  const databaseUrl = postgres.databaseUrl('postgres');
  const migrated = await migrate(databaseUrl);
  if (migrated.kind === 'refused') throw new Error(migrated.reason);
  const masterKey = `bench:${randomBytes(32).toString('base64')}`;
  const env = {
    PATH: process.env['PATH'],
    ...serviceEnvironment({ databaseUrl, redisUrl: redis.url, masterKey }),
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
  };
  const start = (name: ServiceName) =>
    startServiceProcess({ name, entry: serviceEntry(name), env });
  const names = ['gateway', 'dispatcher', 'dispatcher', 'settlement'] as const;
  const services = await Promise.all(names.map(start));
  const [gateway, ...others] = services;
  const baseUrl = `http://127.0.0.1:${gateway?.ready.port}`;
  const clients: Client[] = [];
  for (let made = 0; made < tenantsPerWorker * atOnce; made += 1) {
    const tenant = { name: 'bench', grantCredits: 100_000_000 };
    const { tenantId, hmacSecret: secret } = await createTenant(tenant, env);
    clients.push(createClient({ baseUrl, tenantId, secret }));
  }
  const nodes = await Promise.all(
    others.slice(0, 2).map(async ({ ready }) => {
      const credentials = await createNode('bench', env);
      const link = `ws://127.0.0.1:${ready.port}`;
      const { nodeId, nodeSecret } = credentials;
      return await connectScriptedNode({ link, nodeId, secret: nodeSecret, slots: slotsPerNode });
    }),
  );
  const latenciesMs = await cancelAll(clients, nodes);
  latenciesMs.sort((one, other) => one - other);
  const at = (share: number): string =>
    (latenciesMs[Math.ceil(share * latenciesMs.length) - 1] ?? Number.NaN).toFixed(1);
  process.stdout.write(
    `${latenciesMs.length} cancels, ${atOnce} at once, two dispatchers: the node's frame after the ` +
      `tenant's 200: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`,
  );
  await Promise.all(nodes.map((node) => node.close()));
  await Promise.all(services.map((service) => service.stop()));
}

async function cancelAll(
  clients: readonly Client[],
  nodes: readonly ScriptedNode[],
): Promise<number[]> {
  const begun = new Map<string, () => void>();
  for (const node of nodes) {
    node.autoPilot({
      outcome(submissionId) {
        begun.get(submissionId)?.();
        begun.set(submissionId, () => {});
        return undefined;
      },
    });
  }
  const latenciesMs: number[] = [];
  let left = cancels;
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const client = clients[left % clients.length];
      if (client === undefined) throw new Error('no tenants');
      const { submissionId } = await client.submit(submissionOf());
      await new Promise<void>((resolve) => {
        if (begun.has(submissionId)) resolve();
        else begun.set(submissionId, resolve);
      });
      const about = (frame: { submissionId: string }) => frame.submissionId === submissionId;
      const heard = Promise.any(
        nodes.map(async (node) => {
          await node.next('cancel', { where: about, timeoutMs: 10_000 });
          return performance.now();
        }),
      );
      await client.cancel(submissionId);
      const answeredMs = performance.now();
      latenciesMs.push(Math.max(0, (await heard) - answeredMs));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return latenciesMs;
}

function submissionOf() {
  return {
    idempotencyKey: randomUUID(),
    jobType: 'ats.application',
    tier: 'instant',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'greenhouse',
      applicantProfile: { name: 'Ana Pérez' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  } as const;
}
