import { setTimeout as sleep } from 'node:timers/promises';
import { readList, readObject } from './audit/read.ts';
import { microsOf } from './load/json.ts';
import type { LoadTenant } from './load/tenant.ts';
import { activeRunsOf, readNodeLog } from './node/node-log.ts';
import type { World } from './world/types.ts';

export interface RestOptions {
  readonly boundMs: number;
  /**
   * True: `comeToRest` advances the database's clock. Leases then end sooner, and retries are due
   * sooner.
   */
  readonly movesClock: boolean;
}

const lookEveryMs = 250;
const moveEveryMs = 2_500;
/**
 * The clock advances by this step. The step exceeds the lease, the start deadline, the claim of a
 * webhook attempt, and each of `backoffSeconds` (world/world.ts).
 */
const moveByMs = 61_000;

export interface Rest {
  readonly ms: number;
  /** Descriptions of what is still in flight. Empty if everything came to rest in time. */
  readonly restless: readonly string[];
}

export function describeRest({ ms, restless }: Rest): string {
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  if (restless.length === 0) return `the system came to rest in ${seconds}`;
  return `the system did not come to rest in ${seconds}: ${restless.join('; ')}`;
}

/**
 * Waits at most `boundMs` until nothing is in flight: no credits are held, all submissions have
 * ended, no delivery is pending, and no node has an active run.
 */
export async function comeToRest(
  world: World,
  tenants: readonly LoadTenant[],
  { boundMs, movesClock }: RestOptions,
): Promise<Rest> {
  const startedMs = performance.now();
  let movedAtMs = startedMs;
  let offsetMs = 0;
  for (;;) {
    const ofTenants = await Promise.all(tenants.map((tenant) => inFlight(world, tenant)));
    const restless = [...ofTenants.flat(), ...busyNodes(world)];
    const ms = performance.now() - startedMs;
    if (restless.length === 0 || ms >= boundMs) return { ms, restless };
    await sleep(lookEveryMs);
    if (!movesClock || performance.now() - movedAtMs < moveEveryMs) continue;
    movedAtMs = performance.now();
    offsetMs += moveByMs;
    await world.pool.query(nowWithOffset(offsetMs));
  }
}

function nowWithOffset(offsetMs: number): string {
  return `CREATE OR REPLACE FUNCTION svc_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN date_trunc('milliseconds', statement_timestamp()) + interval '${offsetMs} milliseconds'`;
}

/**
 * Describes each node that still has runs. Such a node may report a late outcome, which causes
 * another event.
 */
function busyNodes({ nodes }: World): string[] {
  return nodes.flatMap(({ process: { name }, logFile }) => {
    const { size } = activeRunsOf(readNodeLog(name, logFile));
    return size === 0 ? [] : [`${name} has ${size} active runs`];
  });
}

const openStatuses = ['pending', 'dispatched', 'running'];

async function inFlight(world: World, tenant: LoadTenant): Promise<string[]> {
  const found: string[] = [];
  const balance = await readObject(world, tenant, '/v1/credits/balance');
  if (microsOf(balance['held']) !== 0n) found.push(`${String(balance['held'])} credits are held`);
  for (const status of openStatuses) {
    const open = await readList(world, tenant, '/v1/submissions', `status=${status}`, 1);
    found.push(...open.map((one) => `${String(one['id'])} is ${status}`));
  }
  const pending = await readList(world, tenant, '/v1/webhooks/deliveries', 'status=pending', 1);
  found.push(...pending.map((one) => `${String(one['id'])} is pending`));
  return found.map((what) => `${tenant.name}: ${what}`);
}
