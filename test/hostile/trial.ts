import {
  capUsage,
  decimalOf,
  microsPerCredit,
  parseUsage,
  startDeadlineMs,
  steppedSurge,
  surgeNoneMicros,
} from '@svc/domain';
import { createFleetRegistry, createSurgeBoard } from '@svc/queue';
import { findNode, findOverdue, settle, storeServiceFailure } from '@svc/store';
import { waitUntil } from '@svc/testkit';
import { type Dispatching, uuidOf } from '../../services/dispatcher/src/dispatcher.fixture.ts';
import { inventedIds, playHostile } from './hostile-node.ts';

export interface TrialReport {
  readonly submissions: number;
  readonly submitted: number;
  readonly rejected: number;
  readonly sunk: number;
  /**
   * The number of payloads that the hostile node got before its first quarantine. Infinity if it
   * was never in quarantine.
   */
  readonly payloadsBeforeQuarantine: number;
  readonly payloads: number;
  /**
   * The highest surge multiplier that was published before the hostile node connected.
   * `surgeMicros` is the highest multiplier after it connected.
   */
  readonly surgeBeforeMicros: bigint;
  readonly surgeMicros: bigint;
  /**
   * The highest number of slots that were taken for no assignment, counted after each batch. Before
   * each count, the trial waits up to `slotsSettleMs` for this number to be 0.
   */
  readonly slotsTakenByNobody: number;
  readonly cappedCount: number;
  readonly aboveCapCount: number;
}

const honestNodes = 3;
const slotsPerNode = 4;
/**
 * The number of creations in flight at the same time: half as many as the honest nodes have slots.
 */
const demand = (honestNodes * slotsPerNode) / 2;
/**
 * The hostile node completes this many jobs with inflated usage. After them it finishes nothing.
 */
const inflates = 4;
const honestUsage = {
  nodeSeconds: 1,
  cpuSeconds: 1,
  memoryGbSeconds: 1,
  bandwidthMb: 2,
  actions: 8,
};
const chunks = 20;
/** The longest wait until every taken slot belongs to an assignment. */
const slotsSettleMs = 5_000;
/** The hold of the tier `instant` in the default rate card, without surge. */
const maxMicros = 500n * microsPerCredit;

/**
 * Runs one hostile node among three honest ones (CONTRACT 7, "What a node may claim"). The hostile
 * node claims 1,000 slots, and its `hello` names 1,000 invented submissions.
 */
export async function runTrial(service: Dispatching, submissions: number): Promise<TrialReport> {
  const { store } = service;
  for (let index = 0; index < honestNodes; index += 1) {
    const own = await service.newNode(slotsPerNode);
    const node = await service.connect({ ...own, slots: slotsPerNode, dispatcher: index % 2 });
    node.autoPilot({ outcome: () => ({ completed: {}, usage: honestUsage }) });
  }
  const count = Math.round(submissions / chunks);
  const before = watchSurge(service);
  for (let chunk = 0; chunk < chunks / 4; chunk += 1) {
    await postAll(service, count, () => before.look());
    await settleAll(service);
  }
  const own = await service.newNode(slotsPerNode);
  const node = await service.connect({ ...own, slots: 1_000, running: inventedIds(1_000) });
  const hostile = playHostile(node, inflates);
  const during = watchSurge(service);
  let payloadsBeforeQuarantine: number | undefined;
  let slotsTakenByNobody = 0;
  const look = async (): Promise<void> => {
    await during.look();
    const row = await findNode(store, uuidOf(own.nodeId));
    if ((row?.quarantinedUntil ?? null) !== null) payloadsBeforeQuarantine ??= hostile.payloads();
  };
  try {
    for (let chunk = chunks / 4; chunk < chunks; chunk += 1) {
      await postAll(service, count, look);
      await rested(service);
      slotsTakenByNobody = Math.max(slotsTakenByNobody, await takenByNobody(service));
      // The hostile node starts only a few jobs. Its other jobs fail after the start deadline, and
      // these failures quarantine the node.
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
    surgeBeforeMicros: before.highestMicros(),
    surgeMicros: during.highestMicros(),
    slotsTakenByNobody,
    ...(await compareWithCaps(service)),
  };
}

function watchSurge({ redis, prefix }: Dispatching) {
  const board = createSurgeBoard({ redis, prefix });
  let highestMicros = surgeNoneMicros;
  return {
    highestMicros: () => highestMicros,
    async look(): Promise<void> {
      const { smoothed } = await board.read();
      const micros = smoothed === null ? surgeNoneMicros : steppedSurge(smoothed.micros);
      if (micros > highestMicros) highestMicros = micros;
    },
  };
}

async function rested({ database }: Dispatching): Promise<void> {
  await waitUntil(
    async () => {
      const busy = await database.query(
        `SELECT FROM submissions WHERE state IN ('pending', 'running')`,
      );
      return busy.length === 0;
    },
    { what: 'the honest nodes to finish' },
  );
}

/**
 * Counts the slots that are taken without an assignment. An open offer also takes a slot for a
 * short time, so the function counts again for up to `slotsSettleMs` until it finds none.
 */
async function takenByNobody({ database, redis, prefix }: Dispatching): Promise<number> {
  const registry = createFleetRegistry({ redis, prefix });
  let beyond = 0;
  for (const untilMs = performance.now() + slotsSettleMs; performance.now() < untilMs;) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM submissions WHERE state = 'dispatched'`,
    );
    const { slots, free } = await registry.capacity();
    beyond = slots - free - (row?.count ?? 0);
    if (beyond <= 0) return 0;
  }
  return beyond;
}

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

/**
 * Advances the clock. Then stores the failure of each submission that did not start in time, as the
 * reconciler does.
 */
async function passTime(service: Dispatching, ms: number): Promise<void> {
  const { store } = service;
  await service.advance(ms);
  const { candidates } = await findOverdue(store, { after: null, limit: 256 });
  for (const { subjectId: submissionId, kind } of candidates) {
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
  const countOf = (...states: string[]): number =>
    states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  return {
    submitted: countOf('submitted'),
    rejected: countOf('rejected'),
    sunk: countOf('dispatched', 'settling', 'failed'),
  };
}

interface MeteredRow {
  readonly isCapped: boolean;
  readonly elapsedMs: string;
  readonly usage: Record<string, string | null>;
}

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
