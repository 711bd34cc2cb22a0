import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { assertInvariant } from '@svc/domain';
import { DatabaseError, Pool, type PoolClient, type QueryResultRow } from 'pg';
import { TransactionExpired } from './errors.ts';
import { PrismaClient } from '../generated/client.ts';
import { createIdClock } from './id-clock.ts';
import { pinnedSession } from './session.ts';

/** Where a sealed value belongs. Null: the row has no tenant, or no kind. */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly tenantId: string | null;
  readonly kind: string | null;
  readonly row: string;
}

/** How far a database is sealed for whole places (`sealing-phase.ts`). */
export type SealingPhase = 'former' | 'resealing' | 'bound';

/** Seals a value for its place, so that it cannot be read elsewhere. */
export interface Sealer {
  /** What everything begins with that is sealed for a whole place under the key that seals now. */
  readonly prefix: Uint8Array;
  phase: SealingPhase;
  seal(place: Place, plaintext: Uint8Array | string): Uint8Array;
  unseal(place: Place, sealed: Uint8Array): Uint8Array;
}

export interface StoreOptions {
  databaseUrl: string;
  sealer: Sealer;
  /** Makes a UUIDv7, lower case, of this time. */
  newId: (nowMs: number) => string;
  /** Multiplies the caps of reported usage, as a decimal; default 1. */
  usageCapFactor?: string;
  /** Connections at most; default 10. */
  poolMax?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** Called for faults of idle connections, which are replaced by themselves. */
  onConnectionError?: (error: Error) => void;
}

/** What every function of this package takes first. */
export interface Store {
  readonly db: PrismaClient;
  readonly sealer: Sealer;
  /** A UUIDv7 of the database's time. */
  readonly newId: () => string;
  /** Multiplies the caps of reported usage, as a decimal. */
  readonly usageCapFactor: string;
  /** Reads the database's clock for new ids, before a process makes the first one. */
  readonly readClock: () => Promise<void>;
  /**
   * One named statement straight to the driver, for the hot path, where the client's own work costs
   * more than the statement. Values and rows are the driver's: a `bigint` column is a text.
   */
  readonly query: Query;
  /**
   * The same for a transaction, all of whose statements `work` asks for by the `query` it is given.
   * Committed where `work` resolves, rolled back where it rejects; not run again by itself. Throws
   * `TransactionExpired` where it takes longer than `transactionTimeoutMs`.
   */
  transaction<Result>(this: void, work: (query: Query) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export type Query = <Row extends QueryResultRow>(
  this: void,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>;

/** Either the pool or one transaction of it. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

const poolConnectionsMax = 10;
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 10_000;
/** Beyond what the server itself allows: only a cut that nobody announced runs into it. */
const answerTimeoutMs = statementTimeoutMs + 5_000;
const lockTimeoutMs = 5_000;
const idleInTransactionTimeoutMs = 10_000;
const transactionWaitMs = 5_000;
const transactionTimeoutMs = 10_000;

/**
 * Statements are short, many and prepared: compiling one costs more than running it, and a plan
 * that reads a whole table, made while the table was small, would be kept while it grows. One plan
 * a statement, for all values: planned anew each time, a hold alone took 1.2 ms instead of 0.7. A
 * statement must therefore bound an index by its parameters themselves (`id > COALESCE(…)`, never
 * `… IS NULL OR id > …`). And one that finds rows by their ids names their states by a parameter: by
 * a literal the planner can prove that a partial index of those states has them all, and reads the
 * whole of that index, which was small when the plan was made (measured: a quarter of what Postgres
 * did for a submission with thousands under way).
 */
const plannerOptions = '-c jit=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan';

/**
 * Opens a pool on the database; connects on first use.
 *
 * Statements are named by the hash of their text, because an unnamed one is parsed and planned
 * again each time (measured: twice the CPU). Texts must therefore be few: lists travel as arrays
 * or as one JSON parameter, never as a list of placeholders.
 */
export function openStore(options: StoreOptions): Store {
  const onError = options.onConnectionError ?? (() => {});
  const pool = new Pool({
    ...pinnedSession(options.databaseUrl, plannerOptions),
    max: options.poolMax ?? poolConnectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    application_name: options.applicationName ?? 'svc',
  });
  pool.on('error', onError);
  // A client in use has the pool's listener taken off, and one that is cut before it got another
  // would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  const adapter = new PrismaPg(pool, {
    statementNameGenerator: (query) => statementName(query.sql),
    onConnectionError: onError,
    disposeExternalPool: true,
  });
  const db = new PrismaClient({
    adapter,
    transactionOptions: { maxWait: transactionWaitMs, timeout: transactionTimeoutMs },
  });
  const query = queryOf(pool);
  const clock = createIdClock(async () => {
    const [row] = await query<{ now: Date }>('SELECT svc_now() AS now', []);
    assertInvariant(row !== undefined, 'the database has a clock');
    return row.now.getTime();
  });
  return {
    db,
    sealer: options.sealer,
    newId: () => options.newId(clock.nowMs()),
    usageCapFactor: options.usageCapFactor ?? '1',
    readClock: () => clock.read(),
    query,
    async transaction<Result>(work: (query: Query) => Promise<Result>) {
      const client = await pool.connect();
      return await inTransaction(client, work);
    },
    async close() {
      await db.$disconnect();
      // The client ends the pool only if it has used it.
      if (!pool.ended) await pool.end();
    },
  };
}

function queryOf(connection: Pick<PoolClient, 'query'>): Query {
  return async <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => {
    const name = statementName(text);
    const { rows } = await connection.query<Row>({ name, text, values: [...values] });
    return rows;
  };
}

/**
 * Gives the connection back, or ends it where it may still be at work or cannot be rolled back: the
 * server does that then.
 */
async function inTransaction<Result>(
  client: PoolClient,
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const expiresMs = performance.now() + transactionTimeoutMs;
  let isBroken = false;
  const onConnection = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof DatabaseError)) isBroken = true;
      throw error;
    }
  };
  const query = queryOf(client);
  try {
    await onConnection(() => client.query('BEGIN'));
    const result = await work(async (text, values) => {
      if (performance.now() > expiresMs) throw new TransactionExpired();
      return await onConnection(() => query(text, values));
    });
    const { command } = await onConnection(() => client.query('COMMIT'));
    assertInvariant(command === 'COMMIT', 'work that resolved has left no failed statement');
    return result;
  } catch (error) {
    if (!isBroken)
      await onConnection(() => client.query('ROLLBACK')).catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}

const statementNames = new Map<string, string>();
const statementNamesMax = 1_000;

function statementName(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    if (statementNames.size >= statementNamesMax) statementNames.clear();
    name = createHash('sha256').update(sql).digest('base64url');
    statementNames.set(sql, name);
  }
  return name;
}

/** Throws where the database does not answer. */
export async function ping(store: Store): Promise<void> {
  await store.db.$queryRaw`SELECT 1`;
}
