import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from '@svc/local';
import {
  closeRedis,
  connectRedis,
  createFleetRegistry,
  fleetRebuildingMs,
  waitForRedis,
  type FleetRegistry,
} from '@svc/queue';

/**
 * The same trial with the fleet registry alone: a real Redis, two dispatchers, real time. Without the
 * tenant, the registry grants every free slot to whoever asks first, which is the rule before decision 40.
 */
export interface RegistryTrial {
  readonly seconds: number;
  readonly slowPerSecond: number;
  readonly floodPerSecond: number;
  readonly isFair: boolean;
}

export interface Accepted {
  readonly slow: number;
  readonly flood: number;
}

const nodes = 10;
const slotsPerNode = 2;
const runMs = 2_000;
/** The first asks are not counted. */
const warmUpMs = 10_000;

export async function tryRegistry(trial: RegistryTrial): Promise<Accepted> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-fairness-'));
  const server = await startRedis({ dir, durable: false });
  const redis = connectRedis(server.url, 'producer');
  try {
    await waitForRedis(redis, 5_000);
    const registry = createFleetRegistry({ redis, prefix: 'fairness' });
    await join(registry);
    const [slow, flood] = await Promise.all([
      load(registry, trial, 'slow', trial.slowPerSecond),
      load(registry, trial, 'flood', trial.floodPerSecond),
    ]);
    return { slow, flood };
  } finally {
    await closeRedis(redis);
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function join(registry: FleetRegistry): Promise<void> {
  for (let index = 0; index < nodes; index += 1) {
    const dispatcherId = `d${index % 2}`;
    await registry.refresh(dispatcherId);
    await registry.join({
      nodeId: `n${index}`,
      dispatcherId,
      linkId: `l${index}`,
      epoch: 0,
      linkEpoch: index,
      jobTypes: ['ats.application'],
      slots: slotsPerNode,
      draining: false,
      submissionIds: [],
    });
  }
  await delay(fleetRebuildingMs);
}

/** Asks at random times (Poisson). Returns the part of the counted asks that got a slot. */
async function load(
  registry: FleetRegistry,
  { seconds, isFair }: RegistryTrial,
  tenant: string,
  perSecond: number,
): Promise<number> {
  const startMs = performance.now();
  const endMs = startMs + warmUpMs + seconds * 1_000;
  let counted = 0;
  let granted = 0;
  let nextMs = startMs;
  for (let asked = 0; perSecond > 0; asked += 1) {
    nextMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond;
    if (nextMs >= endMs) break;
    await delay(Math.max(0, nextMs - performance.now()));
    const dispatcherId = `d${asked % 2}`;
    await registry.refresh(dispatcherId);
    const submissionId = `${tenant}-${asked}`;
    const reservation = await registry.reserve({
      dispatcherId,
      jobType: 'ats.application',
      tier: 'standard',
      excludeNodeIds: [],
      submissionId,
      tenantId: isFair ? tenant : undefined,
      // The run: the slot is free again when the reservation expires.
      ttlMs: runMs * (0.5 + Math.random()),
    });
    if (nextMs - startMs < warmUpMs) continue;
    counted += 1;
    if (reservation.kind === 'reserved') granted += 1;
  }
  return counted === 0 ? 0 : granted / counted;
}
