import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { toWireId } from '@svc/domain';
import { announceDeliveries, createProducer, readQueueStatus } from '@svc/queue';
import { arrivalsAt, until } from './figures.ts';
import { pendingCount, seedDeliveries, seedTenant } from './seed.ts';
import type { World } from './world.ts';

const backlog = 100_000;
/**
 * Before the last three measurements, this many tenants are added. Each has 100 deliveries to an
 * endpoint that never answers.
 */
const deadTenants = 60;

type Say = (line: string) => void;

/**
 * Measures how long a delivery of tenant B takes behind 100,000 deliveries of tenant A, whose
 * endpoint accepts connections and never answers.
 */
export async function measureFairness(world: World, say: Say): Promise<void> {
  const hole = await openBlackHole();
  const receiver = await world.program('receiver');
  const url = `http://127.0.0.1:${receiver.ready.port}`;
  const [a, b] = [await seedTenant(world, hole.url), await seedTenant(world, `${url}/b`)];
  const deliverer = await world.deliverer();
  const producer = createProducer({ redis: world.redis, prefix: 'svc' });
  const memory = await memoryOf(world);
  await seedDeliveries(world, [a], backlog);
  await announceDeliveries(producer, [a]);
  await until("8 open requests to A's endpoint", 10_000, async () => hole.open() >= 8);
  say(
    `fairness: ${await pendingCount(world, [a])} deliveries of tenant A are pending; its endpoint never answers`,
  );
  const measure = async (when: string): Promise<void> => {
    const [id = ''] = await seedDeliveries(world, [b], 1);
    const committedMs = Date.now();
    await announceDeliveries(producer, [b]);
    let arrivedMs: number | undefined;
    await until("tenant B's webhook", 60_000, async () => {
      arrivedMs = (await arrivalsAt(url)).get(toWireId('dlv', id));
      return arrivedMs !== undefined;
    });
    say(
      `  ${when.padEnd(46)} tenant B's webhook arrives after ${(arrivedMs ?? 0) - committedMs} ms (goal 1000 ms); ${hole.open()} connections to endpoints that never answer`,
    );
  };
  for (const _ of [1, 2, 3]) await measure("A's first requests are in flight");
  await new Promise((resolve) => setTimeout(resolve, 16_000));
  for (const _ of [1, 2, 3]) await measure("A's first requests have timed out");
  const others = await Promise.all(
    Array.from({ length: deadTenants }, () => seedTenant(world, hole.url)),
  );
  await seedDeliveries(world, others, deadTenants * 100);
  await announceDeliveries(producer, others);
  await until(
    '300 open requests to endpoints that never answer',
    20_000,
    async () => hole.open() >= 300,
  );
  for (const _ of [1, 2, 3]) await measure(`with ${deadTenants} more endpoints that never answer`);
  const [webhooks] = (await readQueueStatus(world.redis, 'svc')).filter(
    ({ queue }) => queue === 'webhook.v1',
  );
  const grown = ((await memoryOf(world)) - memory) / 1_024;
  say(
    `  queue ${JSON.stringify(webhooks)}, Redis uses ${grown.toFixed(0)} KiB more than without a backlog`,
  );
  const { rows } = await world.pool.query<{ attempts: number; deliveries: number }>(
    `SELECT sum(attempt_count)::int AS attempts, (count(*) FILTER (WHERE attempt_count > 0))::int AS deliveries
     FROM deliveries WHERE tenant_id = $1`,
    [a],
  );
  say(`  ${rows[0]?.attempts} attempts so far for ${rows[0]?.deliveries} deliveries of A`);
  await producer.close();
  await Promise.all([deliverer.kill(), receiver.stop()]);
  hole.close();
}

async function openBlackHole() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.resume());
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,
    open: () => sockets.size,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function memoryOf({ redis }: World): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1] ?? 0);
}
