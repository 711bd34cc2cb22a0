import { setTimeout as delay } from 'node:timers/promises';
import { fromWireId } from '@svc/domain';
import { readFleetLinks } from '@svc/queue';
import { Redis } from 'ioredis';
import type { Driver } from '../load/children.ts';
import { startWorld } from '../load/children.ts';
import type { LinkTo, LoadTenant } from '../load/messages.ts';
import type { Stack } from '../systems/stack.ts';
import { lowestIdAt } from '../systems/system.ts';
import { untilNoneLeft } from '../wait.ts';

export interface DeadNodes {
  /** For each node: the time from the start of its silence until the node has left the fleet. */
  readonly noticedAfterMs: readonly number[];
  /**
   * For each run on a silent node: the time from the start of the silence until the run ended as
   * `node_lost`. Empty if `waitForRuns` is false.
   */
  readonly lostAfterMs: readonly number[];
}

export interface DeadNodesOptions {
  readonly stack: Stack;
  readonly driver: Driver;
  readonly gatewayUrl: string;
  readonly tenants: readonly LoadTenant[];
  readonly nodes: readonly LinkTo[];
  /** True to wait until the runs end as `node_lost`, after the 60 s of a lease. */
  readonly waitForRuns: boolean;
}

const runs = 20;
const pollMs = 50;
/**
 * The links are opened evenly over this time, so their pings come at different moments. The time is
 * one ping interval of the service.
 */
const linkedOverMs = 5_000;

/**
 * Measures how soon the service notices silent nodes. The process of the nodes is suspended, so
 * their links stay open but do not answer pings (CONTRACT 7).
 */
export async function measureDeadNodes(options: DeadNodesOptions): Promise<DeadNodes> {
  const { stack, driver, gatewayUrl, tenants, nodes } = options;
  const { pool } = stack;
  const world = await startWorld();
  const redis = new Redis(stack.servers.redis.url, { maxRetriesPerRequest: null });
  try {
    for (const node of nodes) {
      await world.ask({ kind: 'connect', nodes: [node] });
      await delay(linkedOverMs / nodes.length);
    }
    await world.ask({ kind: 'mode', mode: 'run' });
    const sinceId = lowestIdAt(Date.now());
    const { posts } = await driver.ask({
      gatewayUrls: [gatewayUrl],
      tenants,
      pace: { kind: 'closed', inFlight: 4, seconds: 30, requestsMax: runs },
    });
    const created = posts.length;
    const countOf = async (where: string): Promise<number> => {
      const { rows } = await pool.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM submissions WHERE id >= $1 AND ${where}`,
        [sinceId],
      );
      return rows[0]?.count ?? 0;
    };
    await untilNoneLeft(
      'the runs to begin',
      async () => created - (await countOf(`state = 'running'`)),
    );
    process.kill(world.pid, 'SIGSTOP');
    const silentAtMs = Date.now();
    const noticedAfterMs = await untilNoticed(redis, nodes, silentAtMs);
    if (!options.waitForRuns) return { noticedAfterMs, lostAfterMs: [] };
    await untilNoneLeft(
      'the lost runs to end',
      async () => created - (await countOf(`state = 'failed'`)),
    );
    const { rows } = await pool.query<{ code: string; at: number }>(
      `SELECT failure_code AS code, (extract(epoch FROM finished_at) * 1000)::float8 AS at
       FROM submissions WHERE id >= $1`,
      [sinceId],
    );
    const other = rows.find(({ code }) => code !== 'node_lost');
    if (other !== undefined)
      throw new Error(`a run of a dead node ended as ${other.code}, not as node_lost`);
    return { noticedAfterMs, lostAfterMs: rows.map(({ at }) => at - silentAtMs) };
  } finally {
    process.kill(world.pid, 'SIGCONT');
    await world.close();
    redis.disconnect();
  }
}

async function untilNoticed(
  redis: Redis,
  nodes: readonly LinkTo[],
  silentAtMs: number,
): Promise<number[]> {
  const ids = nodes.map(({ nodeId }) => fromWireId('nod', nodeId) ?? '');
  const noticed = new Map<string, number>();
  await untilNoneLeft('the dead nodes to be dropped from the fleet', async () => {
    const links = await readFleetLinks(redis, 'svc', ids);
    const afterMs = Date.now() - silentAtMs;
    for (const id of ids) if (!links.has(id) && !noticed.has(id)) noticed.set(id, afterMs);
    await delay(pollMs);
    return ids.length - noticed.size;
  });
  return [...noticed.values()];
}
