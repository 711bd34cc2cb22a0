import { queues } from '@svc/contracts';
import { announceDeliveries, createProducer } from '@svc/queue';
import { newId } from '@svc/runtime';
import { Queue } from 'bullmq';
import { median } from '../quantile.ts';
import { arrivalsAt, until } from './figures.ts';
import { plainQueue, type PlainJob } from './plain-queue.ts';
import { pendingCount, seedDeliveries, seedTenant } from './seed.ts';
import type { World } from './world.ts';

const backlog = 10_000;
const tenantsMax = 100;
const roundMsMax = 60_000;

type Say = (line: string) => void;

/**
 * Measures how fast a plain BullMQ worker delivers a backlog, and how fast this service delivers
 * it. Returns the service's median rate with 100 tenants, in deliveries per second.
 */
export async function measureThroughput(world: World, rounds: number, say: Say): Promise<number> {
  const receiver = await world.program('receiver');
  const url = `http://127.0.0.1:${receiver.ready.port}`;
  const tenants = await Promise.all(
    Array.from({ length: tenantsMax }, (_, index) => seedTenant(world, `${url}/t${index}`)),
  );
  const deliverer = await world.deliverer();
  const worker = await world.program('plain-worker');
  const rates = { plain: [] as number[], many: [] as number[], one: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const plain = await plainRate(world, url);
    const many = await ownRate(world, url, tenants);
    const one = await ownRate(world, url, tenants.slice(0, 1));
    // The first round warms up.
    if (round === 0) continue;
    rates.plain.push(plain);
    rates.many.push(many);
    rates.one.push(one);
  }
  await Promise.all([deliverer.stop(), worker.stop(), receiver.stop()]);
  const plain = median(rates.plain);
  say(`throughput: backlog of ${backlog} deliveries, medians of ${rounds} interleaved rounds`);
  say(`  plain BullMQ worker, without a record of attempts: ${plain.toFixed(0)}/s`);
  for (const [name, rate] of [
    [`${tenantsMax} tenants`, median(rates.many)],
    ['one tenant, 8 at a time', median(rates.one)],
  ] as const) {
    const ratio = (rate / plain).toFixed(2);
    say(
      `  the service's deliverer, ${name.padEnd(24)} ${rate.toFixed(0)}/s, ${ratio} of the plain worker's rate (goal at least 0.5)`,
    );
  }
  return median(rates.many);
}

async function plainRate({ redis }: World, url: string): Promise<number> {
  const queue = new Queue<PlainJob>(plainQueue, { connection: redis });
  await queue.pause();
  const body = JSON.stringify({ id: 'evt', type: 'submission.completed', data: 'x'.repeat(200) });
  const jobs = Array.from({ length: backlog }, () => ({
    name: 'webhook',
    data: { id: newId(), url, body },
    opts: { removeOnComplete: true, attempts: 8 },
  }));
  for (let start = 0; start < backlog; start += 1_000) {
    await queue.addBulk(jobs.slice(start, start + 1_000));
  }
  await queue.resume();
  await until('the plain worker to empty its queue', roundMsMax, async () => {
    const { waiting = 0, active = 0, paused = 0 } = await queue.getJobCounts();
    return waiting + active + paused === 0;
  });
  await queue.close();
  return rateOf(url);
}

async function ownRate(world: World, url: string, tenants: readonly string[]): Promise<number> {
  const queue = new Queue(queues.webhook.name, { connection: world.redis, prefix: '{svc}' });
  await queue.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const deliveryIds = await seedDeliveries(world, tenants, backlog);
  await queue.resume();
  const producer = createProducer({ redis: world.redis, prefix: 'svc' });
  await announceDeliveries(producer, tenants);
  await until(
    'the deliverer to end all deliveries',
    roundMsMax,
    async () => (await pendingCount(world, tenants)) === 0,
  );
  await Promise.all([queue.close(), producer.close()]);
  await assertLogged(world, deliveryIds);
  return rateOf(url);
}

async function assertLogged({ pool }: World, deliveryIds: readonly string[]): Promise<void> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM delivery_attempts
     WHERE delivery_id = ANY($1) AND recorded_at IS NOT NULL AND status_code = 204`,
    [deliveryIds],
  );
  if (rows[0]?.count !== deliveryIds.length)
    throw new Error(
      `${rows[0]?.count} attempts with status 204 are stored for ${deliveryIds.length} deliveries, not one for each`,
    );
}

async function rateOf(url: string): Promise<number> {
  const arrivals = await arrivalsAt(url);
  if (arrivals.size !== backlog)
    throw new Error(`only ${arrivals.size} of ${backlog} deliveries arrived`);
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, 0];
  for (const atMs of arrivals.values()) {
    firstMs = Math.min(firstMs, atMs);
    lastMs = Math.max(lastMs, atMs);
  }
  return (arrivals.size / (lastMs - firstMs)) * 1_000;
}
