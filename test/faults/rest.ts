import { setTimeout as sleep } from 'node:timers/promises';
import { microsOf } from './load/json.ts';
import { readList, readObject } from './audit/read.ts';
import type { LoadTenant } from './load/tenant.ts';
import { inHandOf, readNodeLog } from './node/node-log.ts';
import type { World } from './world/types.ts';

export interface RestOptions {
  readonly boundMs: number;
  /** Moves the service's time instead of waiting for its leases and retries to run out. */
  readonly movesClock: boolean;
}

const lookEveryMs = 250;
const moveEveryMs = 2_500;
/** Beyond the lease, the start deadline, an attempt's claim and the longest retry of the run. */
const moveByMs = 61_000;

/**
 * Waits, as a tenant would, until nothing is under way any more: nothing held, nothing pending,
 * dispatched or running, no delivery to come. Resolves with how long that took, or undefined.
 */
export async function comeToRest(
  world: World,
  tenants: readonly LoadTenant[],
  { boundMs, movesClock }: RestOptions,
): Promise<number | undefined> {
  const startedMs = performance.now();
  let movedAtMs = startedMs;
  let offsetMs = 0;
  while (performance.now() - startedMs < boundMs) {
    const restless = await Promise.all(tenants.map((tenant) => isUnderWay(world, tenant)));
    if (!restless.includes(true) && nodesAreIdle(world)) return performance.now() - startedMs;
    await sleep(lookEveryMs);
    if (!movesClock || performance.now() - movedAtMs < moveEveryMs) continue;
    movedAtMs = performance.now();
    offsetMs += moveByMs;
    await world.pool.query(nowWithOffset(offsetMs));
  }
  return undefined;
}

function nowWithOffset(offsetMs: number): string {
  return `CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN date_trunc('milliseconds', statement_timestamp()) + interval '${offsetMs} milliseconds'`;
}

/** What a node still reports may be a late outcome, with an event of its own. */
function nodesAreIdle({ nodes }: World): boolean {
  return nodes.every(
    ({ process, logFile }) => inHandOf(readNodeLog(process.name, logFile)).size === 0,
  );
}

const openStatuses = ['pending', 'dispatched', 'running'];

async function isUnderWay(world: World, tenant: LoadTenant): Promise<boolean> {
  const balance = await readObject(world, tenant, '/v1/credits/balance');
  if (microsOf(balance['held']) !== 0n) return true;
  for (const status of openStatuses) {
    const open = await readList(world, tenant, '/v1/submissions', `status=${status}`, 1);
    if (open.length > 0) return true;
  }
  const pending = await readList(world, tenant, '/v1/webhooks/deliveries', 'status=pending', 1);
  return pending.length > 0;
}
