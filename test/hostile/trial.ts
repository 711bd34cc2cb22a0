import {
  capUsage,
  decimalOf,
  microsPerCredit,
  parseUsage,
  startDeadlineMs,
  surgeNoneMicros,
  surgeTarget,
} from '@svc/domain';
import { createFleetRegistry } from '@svc/queue';
import { findNode, findOverdue, settle, storeServiceFailure } from '@svc/store';
import { waitUntil } from '@svc/testkit';
import { type Dispatching, uuidOf } from '../../services/dispatcher/src/test-fixture.ts';
import { inventedIds, playHostile } from './hostile-node.ts';

export interface TrialReport {
  readonly submissions: number;
  readonly submitted: number;
  readonly rejected: number;
  /** What the hostile node was sent before it was first in quarantine, and in all. */
  readonly payloadsBeforeQuarantine: number;
  readonly payloads: number;
  readonly surgeMaxMicros: bigint;
  /** What the demand of the tenants makes of the honest nodes' slots. */
  readonly surgeByDemandMicros: bigint;
  readonly cappedCount: number;
  readonly aboveCapCount: number;
}

const honestNodes = 3;
const slotsPerNode = 4;
/** Submissions on their way at once: half of the honest nodes' slots. */
const demand = (honestNodes * slotsPerNode) / 2;
/** The hostile node completes so many with inflated usage, then sinks everything. */
const inflates = 4;
const honestUsage = {
  nodeSeconds: 1,
  cpuSeconds: 1,
  memoryGbSeconds: 1,
  bandwidthMb: 2,
  actions: 8,
};
const chunks = 20;
/** Of the tier `instant` in the default rate card. */
const maxMicros = 500n * microsPerCredit;

/**
 * One hostile node beside three honest ones (CONTRACT section 7, "What a node may claim"). It asks
 * for 1,000 slots and names 1,000 ids that nobody knows; it inflates what it completes; then it
 * accepts everything and starts nothing.
 */
export async function runTrial(service: Dispatching, submissions: number): Promise<TrialReport> {
  const { store, redis, prefix } = service;
  for (let index = 0; index < honestNodes; index += 1) {
    const own = await service.newNode(slotsPerNode);
    const node = await service.connect({ ...own, slots: slotsPerNode, dispatcher: index % 2 });
    node.autoPilot({ outcome: () => ({ completed: {}, usage: honestUsage }) });
  }
  const own = await service.newNode(slotsPerNode);
  const node = await service.connect({ ...own, slots: 1_000, running: inventedIds(1_000) });
  const hostile = playHostile(node, inflates);
  const registry = createFleetRegistry({ redis, prefix });
  let surgeMaxMicros = surgeNoneMicros;
  let payloadsBeforeQuarantine: number | undefined;
  const look = async (): Promise<void> => {
    const { slots, free } = await registry.capacity();
    const targetMicros = surgeTarget(slots, slots - free);
    if (targetMicros > surgeMaxMicros) surgeMaxMicros = targetMicros;
    const standing = await findNode(store, uuidOf(own.nodeId));
    if (standing?.quarantinedUntil !== null) payloadsBeforeQuarantine ??= hostile.payloads();
  };
  try {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      await postAll(service, Math.round(submissions / chunks), look);
      // Its quarantine begins when the first of what it sank should have begun.
      if (chunk % 5 === 1) await passTime(service, startDeadlineMs);
      await look();
      await settleAll(service);
    }
  } finally {
    hostile.stop();
  }
  return {
    submissions,
    ...(await countStates(service)),
    payloadsBeforeQuarantine: payloadsBeforeQuarantine ?? Number.POSITIVE_INFINITY,
    payloads: hostile.payloads(),
    surgeMaxMicros,
    surgeByDemandMicros: surgeTarget(honestNodes * slotsPerNode, demand),
    ...(await compareWithCaps(service)),
  };
}

/** Posts so many, `demand` at a time, each of which is on its way until a node has it. */
async function postAll(
  service: Dispatching,
  count: number,
  look: () => Promise<void>,
): Promise<void> {
  let left = count;
  const postOne = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await (
        await service.post({ tier: 'instant', maxMicros })
      ).replied;
      await look();
    }
  };
  await Promise.all(Array.from({ length: demand }, postOne));
}

/** Lets the honest nodes finish, then time pass, then the reconciler look. */
async function passTime(service: Dispatching, ms: number): Promise<void> {
  const { store, database } = service;
  await waitUntil(
    async () => {
      const busy = await database.query(
        `SELECT FROM submissions WHERE state IN ('pending', 'running')`,
      );
      return busy.length === 0;
    },
    { what: 'the honest nodes to finish' },
  );
  await service.advance(ms);
  for (const { submissionId, kind } of await findOverdue(store, 256)) {
    if (kind !== 'not_started') continue;
    await storeServiceFailure(store, { submissionId, code: 'not_started' });
    await service.cancelled(submissionId);
  }
}

async function settleAll({ store, database }: Dispatching): Promise<void> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM submissions WHERE state = 'settling'`,
  );
  await settle(
    store,
    rows.map(({ id }) => id),
  );
}

async function countStates({ database }: Dispatching) {
  const rows = await database.query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM submissions GROUP BY state',
  );
  const counts = new Map(rows.map(({ state, count }) => [state, count]));
  return { submitted: counts.get('submitted') ?? 0, rejected: counts.get('rejected') ?? 0 };
}

interface MeteredRow {
  readonly isCapped: boolean;
  readonly elapsedMs: string;
  readonly usage: Record<string, string | null>;
}

/** What is stored, and charged, of each against what the domain allows after the time it ran. */
async function compareWithCaps({ database }: Dispatching) {
  const rows = await database.query<MeteredRow & Record<string, unknown>>(
    `SELECT usage_capped AS "isCapped",
       trunc(extract(epoch FROM outcome_at - started_at) * 1000)::text AS "elapsedMs",
       jsonb_build_object('cpuSeconds', usage_cpu_seconds::text, 'actions', usage_actions::text,
         'memoryGbSeconds', usage_memory_gb_seconds::text, 'bandwidthMb', usage_bandwidth_mb::text) AS usage
     FROM submissions WHERE state = 'submitted'`,
  );
  const isAbove = ({ usage, elapsedMs }: MeteredRow): boolean => {
    const reported = Object.entries(usage).filter(([, amount]) => amount !== null);
    const parsed = parseUsage(Object.fromEntries(reported));
    return parsed === undefined || capUsage(parsed, BigInt(elapsedMs), decimalOf(1n, 0)).isCapped;
  };
  return {
    cappedCount: rows.filter(({ isCapped }) => isCapped).length,
    aboveCapCount: rows.filter(isAbove).length,
  };
}
