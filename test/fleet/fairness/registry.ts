import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from '@svc/local';
import {
  closeRedis,
  connectRedis,
  createFleetRegistry,
  fleetRebuildingMs,
  fleetRefreshIntervalMs,
  waitForRedis,
  type FleetRegistry,
} from '@svc/queue';
import { createRandom, type Random } from '../../simulation/random.ts';

/**
 * A trial of the fleet registry on a real Redis, without services. A slow machine does not change
 * the result.
 */
export interface RegistryTrial {
  readonly seed: number;
  readonly seconds: number;
  readonly slots: number;
  readonly slowPerSecond: number;
  readonly floodPerSecond: number;
  /**
   * If false, requests do not name their tenant, so the registry does not share the slots between
   * tenants (decision 40). A request then gets a slot if one is free for its tier.
   */
  readonly isFair: boolean;
}

export interface Tally {
  asked: number;
  accepted: number;
}

export interface Tallies {
  readonly slow: Tally;
  readonly flood: Tally;
}

const slotsPerNode = 2;
const startMs = 1_795_000_000_000;
/** A reservation keeps its slot for 0.5 to 1.5 times this duration. */
export const runMs = 2_000;
/** Requests in this time at the start of a trial are not counted. */
const warmUpMs = 10_000;

export async function withRegistryRedis<T>(
  work: (redis: ReturnType<typeof connectRedis>) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-fairness-'));
  const server = await startRedis({ dir, durable: false });
  const redis = connectRedis(server.url, 'producer');
  try {
    await waitForRedis(redis, 5_000);
    return await work(redis);
  } finally {
    await closeRedis(redis);
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function tryRegistry(
  redis: ReturnType<typeof connectRedis>,
  trial: RegistryTrial,
): Promise<Tallies> {
  await redis.flushall();
  let nowMs = startMs;
  const registry = createFleetRegistry({ redis, prefix: 'fairness', nowMs: () => nowMs });
  await join(registry, trial.slots);
  nowMs += fleetRebuildingMs;
  const beginMs = nowMs;
  let refreshedMs = nowMs;
  const tallies = { slow: { asked: 0, accepted: 0 }, flood: { asked: 0, accepted: 0 } };
  const random = createRandom(trial.seed);
  for (const [index, { atMs, tenant }] of asksOf(trial, random).entries()) {
    // The registry's clock shows the planned time of the request, not the real time.
    nowMs = beginMs + Math.floor(atMs);
    if (nowMs - refreshedMs >= fleetRefreshIntervalMs) {
      refreshedMs = nowMs;
      for (const dispatcherId of dispatchers) await registry.refresh(dispatcherId);
    }
    const { kind } = await registry.reserve({
      dispatcherId: dispatchers[index % dispatchers.length] ?? '',
      jobType: 'ats.application',
      tier: 'standard',
      excludeNodeIds: [],
      submissionId: `${tenant}-${index}`,
      tenantId: trial.isFair ? tenant : undefined,
      // The trial runs no jobs. A reservation takes its slot for the time of a run, then expires.
      ttlMs: runMs * (0.5 + fractionOf(random)),
    });
    if (atMs < warmUpMs) continue;
    tallies[tenant].asked += 1;
    if (kind === 'reserved') tallies[tenant].accepted += 1;
  }
  return tallies;
}

const dispatchers = ['d0', 'd1'];

async function join(registry: FleetRegistry, slots: number): Promise<void> {
  for (const dispatcherId of dispatchers) await registry.refresh(dispatcherId);
  for (let index = 0; index * slotsPerNode < slots; index += 1) {
    await registry.join({
      nodeId: `n${index}`,
      dispatcherId: dispatchers[index % dispatchers.length] ?? '',
      linkId: `l${index}`,
      epoch: 0,
      linkEpoch: index,
      jobTypes: ['ats.application'],
      slots: slotsPerNode,
      draining: false,
      submissionIds: [],
    });
  }
}

const fractionOf = ({ nat }: Random): number => nat(1_000_000) / 1_000_000;

interface Ask {
  readonly atMs: number;
  readonly tenant: 'slow' | 'flood';
}

function asksOf({ seconds, slowPerSecond, floodPerSecond }: RegistryTrial, random: Random): Ask[] {
  const endMs = warmUpMs + seconds * 1_000;
  const all: Ask[] = [];
  for (const [tenant, perSecond] of [
    ['slow', slowPerSecond],
    ['flood', floodPerSecond],
  ] as const) {
    if (perSecond === 0) continue;
    for (let atMs = 0; ;) {
      atMs += (-Math.log(1 - fractionOf(random)) * 1_000) / perSecond;
      if (atMs >= endMs) break;
      all.push({ atMs, tenant });
    }
  }
  return all.toSorted((a, b) => a.atMs - b.atMs);
}
