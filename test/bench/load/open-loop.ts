import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../quantile.ts';
import { Answers } from './answers.ts';
import { monotonicMs } from './clock.ts';
import { Connections } from './connections.ts';
import type { Load, LoadResult } from './messages.ts';
import { arrivalsMs, type Schedule } from './schedule.ts';

/** The most connections to each gateway. If all are in use, a request waits until one is free. */
const connectionsMax = 256;
/**
 * If this many requests are unanswered, the driver abandons the rest of the schedule, because each
 * request takes memory.
 */
const unansweredMax = 1_000;

/**
 * Sends the requests of a schedule. The latency of a request counts from its scheduled instant,
 * even if the request had to wait for a connection.
 */
export async function driveOpen(load: Load, schedule: Schedule): Promise<LoadResult> {
  const answers = new Answers(load);
  const gateways = load.gatewayUrls.map((url) => new Connections(url, connectionsMax));
  const lateMs: number[] = [];
  const open = new Set<Promise<void>>();
  const post = async (index: number, dueAtMs: number): Promise<void> => {
    const connections = gateways[index % gateways.length];
    if (connections === undefined) throw new Error('the load has no gateways');
    let connection;
    try {
      connection = await connections.take();
      lateMs.push(monotonicMs() - dueAtMs);
      await answers.post(connection, index, dueAtMs);
    } catch {
      answers.refuse(0);
    }
    if (connection !== undefined) connections.give(connection);
  };
  const startedAtMs = Math.ceil(monotonicMs());
  let isAbandoned = false;
  for (const [index, dueMs] of arrivalsMs(schedule).entries()) {
    const dueAtMs = startedAtMs + dueMs;
    await until(dueAtMs);
    isAbandoned = open.size >= unansweredMax;
    if (isAbandoned) break;
    const posted = post(index, dueAtMs);
    open.add(posted);
    void posted.finally(() => open.delete(posted));
  }
  if (!isAbandoned) await until(startedAtMs + schedule.seconds * 1_000);
  const endAtMs = monotonicMs();
  const unanswered = open.size;
  await Promise.all(open);
  for (const connections of gateways) connections.close();
  const { posts, refused } = answers;
  const lateP99Ms = quantile(lateMs, 0.99);
  return { posts, refused, open: { endAtMs, unanswered, isAbandoned, lateP99Ms } };
}

/** Waits until `atMs`. Checks the clock after each timer, because a timer can fire 1 ms early. */
async function until(atMs: number): Promise<void> {
  for (let leftMs = atMs - monotonicMs(); leftMs > 0; leftMs = atMs - monotonicMs())
    await delay(Math.ceil(leftMs));
}
