import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, listOf, textOf } from '../load/json.ts';
import { gatewayOf } from '../load/load-world.ts';
import type { LoadTenant } from '../load/tenant.ts';
import type { World } from '../world/types.ts';

const triesMax = 20;
const pageSize = 100;

/**
 * Sends GET requests for `target` as a tenant until the status is `200`, and returns the body.
 * Throws after `triesMax` requests without this status.
 */
export async function readObject(
  world: World,
  { signer }: LoadTenant,
  target: string,
): Promise<Json> {
  for (let attempt = 0; attempt < triesMax; attempt += 1) {
    const answer = await world.http.ask(gatewayOf(world, attempt), {
      method: 'GET',
      target,
      signer,
    });
    if (answer?.status === 200) return answer.body;
    await sleep(250);
  }
  throw new Error(`GET ${target} was not answered with 200 in ${triesMax} requests`);
}

/** Reads a list of the API page by page, newest first. Stops after `countMax` items. */
export async function readList(
  world: World,
  tenant: LoadTenant,
  path: string,
  filter = '',
  countMax = Number.POSITIVE_INFINITY,
): Promise<Json[]> {
  const found: Json[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(pageSize, countMax - found.length);
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const words = `limit=${limit}${filter === '' ? '' : `&${filter}`}${after}`;
    const page = await readObject(world, tenant, `${path}?${words}`);
    found.push(...listOf(page['data']));
    cursor = textOf(page['nextCursor']);
  } while (cursor !== null && found.length < countMax);
  return found;
}
