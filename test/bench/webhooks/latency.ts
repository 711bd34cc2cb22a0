import { toWireId } from '@svc/domain';
import { announceDeliveries, createProducer } from '@svc/queue';
import { quantile } from '../quantile.ts';
import { arrivalsAt, until } from './figures.ts';
import { pendingCount, seedDeliveries, seedTenant } from './seed.ts';
import type { World } from './world.ts';

const tenantsMax = 100;
const seconds = 20;
/** The pause between two batches of events. Settlement commits its events in batches, too. */
const tickMs = 10;

/**
 * Writes events at a steady rate. Reports quantiles of the time from the statement that writes an
 * event to its first arrival at the endpoint.
 */
export async function measureLatency(
  world: World,
  perSecond: number,
  say: (line: string) => void,
): Promise<void> {
  const receiver = await world.program('receiver');
  const url = `http://127.0.0.1:${receiver.ready.port}`;
  const tenants = await Promise.all(
    Array.from({ length: tenantsMax }, (_, index) => seedTenant(world, `${url}/t${index}`)),
  );
  const deliverer = await world.deliverer();
  const producer = createProducer({ redis: world.redis, prefix: 'svc' });
  const deliveryIds: string[] = [];
  const startedMs = performance.now();
  let next = 0;
  for (;;) {
    const elapsedMs = performance.now() - startedMs;
    if (elapsedMs > seconds * 1_000) break;
    const due = Math.floor((elapsedMs / 1_000) * perSecond) - deliveryIds.length;
    if (due > 0) {
      const notified = Array.from({ length: due }, () => tenants[next++ % tenants.length] ?? '');
      deliveryIds.push(...(await seedDeliveries(world, notified, due)));
      await announceDeliveries(producer, notified);
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  await until('the last delivery', 30_000, async () => (await pendingCount(world, tenants)) === 0);
  await producer.close();
  const latencies = await latenciesOf(world, url, deliveryIds);
  await Promise.all([deliverer.stop(), receiver.stop()]);
  const [p50, p99, worst] = [0.5, 0.99, 1].map((share) => quantile(latencies, share).toFixed(0));
  const rate = (deliveryIds.length / seconds).toFixed(0);
  say(
    `latency: ${rate} events/s for ${seconds} s; from an event to the first arrival of its webhook: p50 ${p50} ms, p99 ${p99} ms (goal 250 ms), worst ${worst} ms`,
  );
}

async function latenciesOf(
  { pool }: World,
  url: string,
  deliveryIds: readonly string[],
): Promise<number[]> {
  const arrivals = await arrivalsAt(url);
  const { rows } = await pool.query<{ id: string; created_ms: number }>(
    `SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS created_ms FROM deliveries
     WHERE id = ANY($1)`,
    [deliveryIds],
  );
  // Leaves out the events of the first 3 s, in which the processes warm up.
  const firstMs = Math.min(...rows.map((row) => row.created_ms)) + 3_000;
  return rows
    .filter((row) => row.created_ms > firstMs)
    .map((row) => (arrivals.get(toWireId('dlv', row.id)) ?? Number.NaN) - row.created_ms);
}
