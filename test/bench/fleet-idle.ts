import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { toWireId } from '@svc/domain';
import {
  serviceEntry,
  serviceEnvironment,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@svc/local';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { createNode, migrate, openStore } from '@svc/store';
import type { NodeIdentity } from '@svc/testkit';
import { cpuSecondsOf, residentMegabytesOf } from './process-figures.ts';

/**
 * What many idle nodes cost one dispatcher: memory and CPU of its process, with every node linked
 * and heartbeating. The nodes are a process of their own.
 *
 *   pnpm bench:fleet [--nodes 5000] [--seconds 60]
 */
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '60' },
  },
});
const count = Number(values.nodes);
const seconds = Number(values.seconds);
/** Several heartbeats, and every link entered again, before anything is measured. */
const settlingMs = 35_000;
const createdAtOnce = 8;

const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-bench-fleet-'));
const postgres = await startPostgres({ dir, durable: false, connectionsMax: 40 });
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
  const env = serviceEnvironment({ databaseUrl, redisUrl: redis.url, masterKey });
  const dispatcher = await startServiceProcess({
    name: 'dispatcher',
    entry: serviceEntry('dispatcher'),
    env: {
      PATH: process.env['PATH'],
      ...env,
      NODE_LINK_PORT: '0',
      ADMIN_PORT: '0',
    },
  });
  const { pid } = dispatcher;
  const aloneMb = residentMegabytesOf(pid);
  const link = `ws://127.0.0.1:${dispatcher.ready.port}`;
  const file = path.join(dir, 'nodes.json');
  writeFileSync(file, JSON.stringify(await createNodes(databaseUrl, masterKey, link)));
  const nodes = fork(path.join(import.meta.dirname, 'fleet-nodes.ts'), [file]);
  const startedMs = performance.now();
  let closed = 0;
  await new Promise<void>((resolve) => {
    nodes.on('message', (message: { linked?: number; closed?: number }) => {
      if (message.closed !== undefined) closed += 1;
      if (message.linked === count) resolve();
    });
  });
  const linkedSeconds = (performance.now() - startedMs) / 1_000;
  await sleep(settlingMs);
  const cpuBefore = cpuSecondsOf(pid);
  const measuredMs = performance.now();
  await sleep(seconds * 1_000);
  const usedSeconds = cpuSecondsOf(pid) - cpuBefore;
  const core = (usedSeconds / ((performance.now() - measuredMs) / 1_000)) * 100;
  process.stdout.write(
    `${count} nodes linked in ${linkedSeconds.toFixed(1)} s, ${closed} lost since; ` +
      `${residentMegabytesOf(pid).toFixed(0)} MB resident (${aloneMb.toFixed(0)} MB without nodes), ` +
      `${core.toFixed(1)} % of a core over ${seconds} s\n`,
  );
  nodes.disconnect();
  await once(nodes, 'exit');
  await dispatcher.stop();
}

async function createNodes(
  databaseUrl: string,
  masterKey: string,
  link: string,
): Promise<NodeIdentity[]> {
  const sealer = createSealer(openKeyring(masterKey));
  const store = openStore({ databaseUrl, sealer, newId });
  const made: NodeIdentity[] = [];
  async function work(): Promise<void> {
    while (made.length < count) {
      const id = newId();
      const secret = `nsk_${randomBytes(24).toString('base64url')}`;
      made.push({ link, nodeId: toWireId('nod', id), secret });
      const by = { actor: { kind: 'local', name: 'bench' }, requestId: null } as const;
      await createNode(store, { id, name: 'bench', secret }, by);
    }
  }
  await Promise.all(Array.from({ length: createdAtOnce }, work));
  await store.close();
  return made;
}
