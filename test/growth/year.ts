import { deletionBatchMaxDefault } from '@svc/domain';
import { createLogger } from '@svc/runtime';
import {
  auditLedger,
  deleteRetiredEndpoints,
  dropUnreadableEvents,
  readPartitions,
  type Store,
} from '@svc/store';
import type { Fixture } from '@svc/store/fixture';
import { ensurePartitions } from '../../services/settlement/src/housekeeping.ts';
import { purge } from '../../services/settlement/src/purge.ts';
import { retain } from '../../services/settlement/src/retention.ts';
import type { LockTimes, LockWatch } from './locks.ts';
import { measureTables, type TableSize } from './sizes.ts';
import { startTraffic } from './traffic.ts';

export interface Plan {
  readonly months: number;
  readonly retentionDays: number;
  /** The number of steps in a month. Traffic and retention run once in each step. */
  readonly steps: number;
  /** The number of submissions that each step runs, from the hold to the delivery. */
  readonly lives: number;
  /**
   * Each step writes this many rows to each of the tables `events`, `deliveries`,
   * `delivery_attempts` and `usage_reports`. The rows of the step's submissions are not included.
   */
  readonly rows: number;
}

export interface Month {
  readonly name: string;
  readonly tables: ReadonlyMap<string, TableSize>;
}

export interface Year {
  readonly months: readonly Month[];
  readonly submissions: number;
  readonly partitionsDropped: number;
  readonly eventsDeleted: number;
  readonly locks: LockTimes;
  /**
   * Descriptions of the ledger's faults, and of old idempotency keys that started a second
   * submission when they were used again.
   */
  readonly losses: readonly string[];
}

const stepOffsetMs = 3_600_000;
const logger = createLogger({ service: 'growth', level: 'silent' });

/**
 * Moves the clock through `plan.months` months. In each step, traffic and retention run at the same
 * time. Measures the tables after the last step of each month.
 */
export async function liveMonths(
  fixture: Fixture,
  locks: LockWatch,
  plan: Plan & { readonly setProcessTime: (at: Date) => void },
): Promise<Year> {
  const { store, database } = fixture;
  const start = await monthAfter(fixture);
  const moveTo = async (atMs: number) => {
    const [row] = await database.query<{ now: Date }>('SELECT svc_now() AS now');
    await fixture.advance(atMs - (row?.now.getTime() ?? 0));
    plan.setProcessTime(new Date(atMs));
  };
  await moveTo(start);
  const traffic = await startTraffic(fixture);
  const months: Month[] = [];
  const seen = new Set<string>();
  let eventsDeleted = 0;
  for (let n = 0; n < plan.months; n += 1) {
    const [fromMs, toMs] = [monthsLater(start, n), monthsLater(start, n + 1)];
    for (let step = 0; step < plan.steps; step += 1) {
      await moveTo(fromMs + ((toMs - fromMs) * step) / plan.steps + stepOffsetMs);
      await locks.during(() =>
        Promise.all([
          traffic.run(plan),
          keepHouse(store, plan.retentionDays, (count) => (eventsDeleted += count)),
        ]),
      );
      for (const name of await partitionNames(store)) seen.add(name);
    }
    // Autovacuum is off in the Postgres of a test run, so this test runs `VACUUM` itself.
    await database.query('VACUUM ANALYZE');
    months.push({
      name: new Date(fromMs).toISOString().slice(0, 7),
      tables: await measureTables(database),
    });
  }
  const left = await partitionNames(store);
  const { faults } = await auditLedger(store);
  return {
    months,
    submissions: traffic.lived(),
    partitionsDropped: [...seen].filter((name) => !left.includes(name)).length,
    eventsDeleted,
    locks: locks.times(),
    losses: [
      ...faults.map(({ kind, subject }) => `${kind} ${subject}`),
      ...(await traffic.forgotten()),
    ],
  };
}

const ignore = () => {};

async function keepHouse(
  store: Store,
  retentionDays: number,
  countEventsDeleted: (count: number) => void,
): Promise<void> {
  await ensurePartitions({ store, logger, setPartitionsMissing: ignore });
  const pageMax = deletionBatchMaxDefault;
  await purge({ store, logger, retentionDays, countPurged: ignore, pageMax });
  await dropUnreadableEvents(store, 1_000);
  await deleteRetiredEndpoints(store, 1_000);
  await retain({
    store,
    logger,
    usageDays: retentionDays,
    deliveryDays: retentionDays,
    setPartitionsOverdue: ignore,
    countEventsDeleted,
  });
}

async function partitionNames(store: Store): Promise<string[]> {
  const tables = await readPartitions(store);
  return [...tables].flatMap(([table, ranges]) => ranges.map(({ fromMs }) => `${table} ${fromMs}`));
}

/** The beginning of the next month by the database's clock, in Unix milliseconds. */
async function monthAfter({ database }: Fixture): Promise<number> {
  const [row] = await database.query<{ now: Date }>('SELECT svc_now() AS now');
  return monthsLater(row?.now.getTime() ?? 0, 1);
}

function monthsLater(ms: number, months: number): number {
  const at = new Date(ms);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months);
}
