import type { TestDatabase } from '@svc/testkit';
import { Client } from 'pg';

export interface LockTimes {
  samples: number;
  holds: number;
  /** The longest wait of any session for a lock on a table, in milliseconds. */
  waitMs: number;
  /**
   * The longest `ACCESS EXCLUSIVE` lock on a partitioned table or a default partition, in
   * milliseconds.
   */
  holdMs: number;
  /**
   * Like `waitMs` and `holdMs`, but without the stalls of the sampling. The constant `turnMs` says
   * what counts as a stall.
   */
  netWaitMs: number;
  netHoldMs: number;
  gapMs: number;
}

export interface LockWatch {
  readonly during: (work: () => Promise<unknown>) => Promise<void>;
  readonly times: () => LockTimes;
  readonly close: () => Promise<void>;
}

/** The key of an advisory lock. The sampling ends when a session takes this lock. */
const stopKey = 20_261_123;

/**
 * The most milliseconds that a sample and the sleep after it take on a quiet machine. If a gap
 * between two samples is longer, the excess counts as a stall.
 */
const turnMs = 5;

/**
 * Samples the locks about every millisecond. The loop runs in Postgres, because the process of the
 * test may be too busy to see short locks.
 */
const sampleSql = `
  CREATE FUNCTION growth_sample_locks(OUT samples int, OUT holds int, OUT wait_ms float8, OUT hold_ms float8, OUT gap_ms float8, OUT net_wait_ms float8, OUT net_hold_ms float8)
    LANGUAGE plpgsql AS $$
  DECLARE
    tables oid[] := ARRAY(SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace
      AND (relkind = 'p' OR (relispartition AND relname LIKE '%\\_default')));
    here oid := (SELECT oid FROM pg_database WHERE datname = current_database());
    now_ms float8;
    last_ms float8;
    waited float8;
    holder text;
    last_holder text;
    since_ms float8;
    stall_ms float8;
    hold_stall_ms float8 := 0;
    wait_stall_ms float8 := 0;
  BEGIN
    samples := 0; holds := 0; wait_ms := 0; hold_ms := 0; gap_ms := 0; net_wait_ms := 0; net_hold_ms := 0;
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${stopKey} AND granted) LOOP
      SELECT extract(epoch FROM clock_timestamp()) * 1000,
        max(extract(epoch FROM clock_timestamp() - waitstart) * 1000) FILTER (WHERE NOT granted),
        min(virtualtransaction) FILTER (WHERE granted AND mode = 'AccessExclusiveLock' AND relation = ANY(tables))
      INTO now_ms, waited, holder FROM pg_locks WHERE locktype = 'relation' AND database = here;
      samples := samples + 1;
      stall_ms := GREATEST(0, COALESCE(now_ms - last_ms, 0) - ${turnMs});
      wait_stall_ms := CASE WHEN waited IS NULL THEN 0 ELSE wait_stall_ms + stall_ms END;
      wait_ms := GREATEST(wait_ms, waited);
      net_wait_ms := GREATEST(net_wait_ms, waited - wait_stall_ms);
      gap_ms := GREATEST(gap_ms, now_ms - last_ms);
      IF holder IS DISTINCT FROM last_holder THEN
        since_ms := now_ms;
        hold_stall_ms := -stall_ms;
        holds := holds + (holder IS NOT NULL)::int;
      END IF;
      hold_stall_ms := hold_stall_ms + stall_ms;
      IF holder IS NOT NULL THEN
        hold_ms := GREATEST(hold_ms, now_ms - since_ms);
        net_hold_ms := GREATEST(net_hold_ms, now_ms - since_ms - hold_stall_ms);
      END IF;
      last_ms := now_ms;
      last_holder := holder;
      PERFORM pg_sleep(0.001);
    END LOOP;
  END $$`;

interface SampleRow {
  samples: number;
  holds: number;
  wait_ms: number;
  hold_ms: number;
  gap_ms: number;
  net_wait_ms: number;
  net_hold_ms: number;
}

export async function watchLocks({
  ownerUrl,
  query,
}: Pick<TestDatabase, 'ownerUrl' | 'query'>): Promise<LockWatch> {
  await query(sampleSql);
  const [sampler, stopper] = [1, 2].map(
    () => new Client({ connectionString: ownerUrl, application_name: 'testkit' }),
  );
  if (sampler === undefined || stopper === undefined)
    throw new Error('the lock watch has no sessions');
  await Promise.all([sampler.connect(), stopper.connect()]);
  const times: LockTimes = {
    samples: 0,
    holds: 0,
    waitMs: 0,
    holdMs: 0,
    gapMs: 0,
    netWaitMs: 0,
    netHoldMs: 0,
  };
  return {
    async during(work) {
      const sampling = sampler.query<SampleRow>('SELECT * FROM growth_sample_locks()');
      try {
        await work();
      } finally {
        await stopper.query('SELECT pg_advisory_lock($1)', [stopKey]);
        const [row] = (await sampling).rows;
        await stopper.query('SELECT pg_advisory_unlock($1)', [stopKey]);
        times.samples += row?.samples ?? 0;
        times.holds += row?.holds ?? 0;
        times.waitMs = Math.max(times.waitMs, row?.wait_ms ?? 0);
        times.holdMs = Math.max(times.holdMs, row?.hold_ms ?? 0);
        times.netWaitMs = Math.max(times.netWaitMs, row?.net_wait_ms ?? 0);
        times.netHoldMs = Math.max(times.netHoldMs, row?.net_hold_ms ?? 0);
        times.gapMs = Math.max(times.gapMs, row?.gap_ms ?? 0);
      }
    },
    times: () => times,
    async close() {
      await Promise.all([sampler.end(), stopper.end()]);
    },
  };
}
