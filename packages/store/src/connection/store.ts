import { PrismaPg } from '@prisma/adapter-pg';
import {
  assertInvariant,
  databaseAnswerTimeoutMsDefault,
  databaseBatchMaxDefault,
  databaseConnectTimeoutMsDefault,
} from '@svc/domain';
import { type Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { PrismaClient } from '../generated/client.ts';
import { assertWritable, createPool } from './hosts.ts';
import { createIdClock } from './id-clock.ts';
import {
  inTransaction,
  queryOnPool,
  type Query,
  statementName,
  type TransactionOptions,
} from './query.ts';
import { checkSession, type SessionCheck } from './session.ts';

/**
 * The place that a sealed value is bound to. `tenantId` and `kind` are null if the row has none.
 */
export interface Place {
  readonly table: string;
  readonly column: string;
  readonly tenantId: string | null;
  readonly kind: string | null;
  readonly row: string;
}

/**
 * In the phase `previous`, a sealed value is bound only to its table, column and row. In `bound`,
 * it is bound to its complete `Place`. `sealing-phase.ts` explains all phases.
 */
export type SealingPhase = 'previous' | 'resealing' | 'bound';

export interface Sealer {
  /** The first bytes of each value that is sealed under the current key for its complete place. */
  readonly prefix: Uint8Array;
  /** The ids of the master keys that this process holds. The first one seals. */
  readonly keyIds: readonly string[];
  phase: SealingPhase;
  seal(place: Place, plaintext: Uint8Array | string): Uint8Array;
  /**
   * Throws if the value has an unknown key, was modified, or is bound to another place. Before the
   * phase `bound`, also accepts a value that is bound only to its table, column and row.
   */
  unseal(place: Place, sealed: Uint8Array): Uint8Array;
}

export interface StoreOptions {
  databaseUrl: string;
  sealer: Sealer;
  /** Returns a new UUIDv7 for the Unix time `nowMs`, in lower case. */
  newId: (nowMs: number) => string;
  /** Multiplies the caps of reported usage. A decimal text; default 1. */
  usageCapFactor?: string;
  /** The most connections in the pool; default 10. */
  poolMax?: number;
  /**
   * The longest wait for a free connection of the pool, or for a new one; default 5 s. If
   * `databaseUrl` names several hosts, each of them may take this long.
   */
  connectTimeoutMs?: number;
  /**
   * How long a call waits for the answer; default 15 s. The default is longer than
   * `statement_timeout`, so Postgres usually answers first.
   */
  answerTimeoutMs?: number;
  /** The most calls that share a statement; default 64. */
  batchMax?: number;
  /** How long a connection is used at most; default `connectionLifetimeMsMax`. */
  connectionLifetimeMsMax?: number;
  /** Shown in `pg_stat_activity`; default `svc`. */
  applicationName?: string;
  /**
   * Called when a connection breaks. The callback does not need to reconnect, because the pool opens
   * a new connection when a call needs one.
   */
  onConnectionError?: (error: Error) => void;
}

export interface PoolFigures {
  readonly idle: number;
  readonly busy: number;
  readonly waiting: number;
  readonly limit: number;
}

/** An open database. Most functions of this package take it as their first argument. */
export interface Store {
  /** The typed client, for simple reads that are not on the path of a submission (decision 24). */
  readonly db: Models;
  readonly sealer: Sealer;
  /**
   * Returns a new UUIDv7 with the database's time, or with the host's time until a first reading of
   * the database's clock has succeeded.
   */
  readonly newId: () => string;
  readonly usageCapFactor: string;
  readonly batchMax: number;
  /** Reads the database's clock for new ids. Rejects if the database does not answer. */
  readonly readClock: () => Promise<void>;
  /**
   * Rows have the types of `pg`, but a `bigint` column is a bigint. Pass a list as one array or
   * JSON parameter: each new SQL text would become one more prepared statement.
   */
  readonly query: Query;
  /**
   * Commits if `work` resolves, and rolls back if `work` rejects. Never retries. `work` must send
   * all its statements with the `query` that it is given.
   */
  transaction<Result>(
    this: void,
    work: (query: Query) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  readonly poolFigures: (this: void) => PoolFigures;
  /**
   * `count`: the batches that `batched` functions ran. `calls`: the calls in these batches. A batch
   * or a call that runs again counts again.
   */
  readonly batches: { count: number; calls: number };
  readonly checkSession: () => Promise<SessionCheck>;
  /** Rejects if the database does not answer or accepts no writes. */
  readonly checkWritable: () => Promise<void>;
  close(): Promise<void>;
}

/**
 * The typed client without the methods that begin with `$`, such as raw queries and transactions.
 */
type Models = Omit<PrismaClient, `$${string}`>;

const poolConnectionsMax = 10;
/**
 * After this time a connection is replaced as soon as it is free, so that no session keeps settings
 * or a server that are no longer in force (CONTRACT 9).
 */
const connectionLifetimeMsMax = 30 * 60_000;

/** The parsers for the columns that `query` returns. The typed client parses its rows itself. */
const rowTypes = new TypeOverrides();
rowTypes.setTypeParser(types.builtins.INT8, BigInt);

/**
 * Opens a pool of connections to Postgres, or to a pooler in transaction mode. Connects on first
 * use. Does not send `roleSettings`, because the database role has them (decision 34).
 */
export function openStore(options: StoreOptions): Store {
  const onError = options.onConnectionError ?? (() => {});
  const limit = options.poolMax ?? poolConnectionsMax;
  const pool = createPool(options.databaseUrl, {
    types: rowTypes,
    max: limit,
    // On one connection, a statement does not wait for the answer to the statement before it.
    pipeline: true,
    connectionTimeoutMillis: options.connectTimeoutMs ?? databaseConnectTimeoutMsDefault,
    query_timeout: options.answerTimeoutMs ?? databaseAnswerTimeoutMsDefault,
    keepAlive: true,
    maxLifetimeSeconds: (options.connectionLifetimeMsMax ?? connectionLifetimeMsMax) / 1_000,
    application_name: options.applicationName ?? 'svc',
  });
  pool.on('error', onError);
  // While a client is in use, the pool does not listen to its errors. Without this listener, a
  // broken connection of such a client would end the process.
  pool.on('connect', (client) => client.on('error', onError));
  const adapter = new PrismaPg(pool, {
    statementNameGenerator: (query) => statementName(query.sql),
    onConnectionError: onError,
    disposeExternalPool: true,
  });
  const db = new PrismaClient({ adapter });
  const query = queryOnPool(pool);
  const clock = createIdClock(async () => {
    const [row] = await query<{ now: Date }>('SELECT svc_now() AS now', []);
    assertInvariant(row !== undefined, 'svc_now() returns a row');
    return row.now.getTime();
  });
  return {
    db,
    sealer: options.sealer,
    newId: () => options.newId(clock.nowMs()),
    usageCapFactor: options.usageCapFactor ?? '1',
    batchMax: options.batchMax ?? databaseBatchMaxDefault,
    readClock: () => clock.read(),
    query,
    async transaction<Result>(
      work: (query: Query) => Promise<Result>,
      transactionOptions: TransactionOptions = {},
    ) {
      const client = await pool.connect();
      return await inTransaction(client, work, transactionOptions);
    },
    poolFigures() {
      const { idleCount: idle, totalCount, waitingCount: waiting } = pool;
      return { idle, busy: totalCount - idle, waiting, limit };
    },
    batches: { count: 0, calls: 0 },
    checkSession: () => onConnection(pool, checkSession),
    checkWritable: () => onConnection(pool, assertWritable),
    async close() {
      await db.$disconnect();
      // `$disconnect` ends the pool only if a typed call was made before.
      if (!pool.ended) await pool.end();
    },
  };
}

/** Closes the connection if `ask` rejects. */
async function onConnection<Answer>(
  pool: Pool,
  ask: (client: PoolClient) => Promise<Answer>,
): Promise<Answer> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const answer = await ask(client);
    isBroken = false;
    return answer;
  } finally {
    client.release(isBroken);
  }
}

/**
 * Loads the query compiler of the typed client. Call it before the service accepts requests,
 * because the load blocks the process (decision 24).
 */
export async function loadTypedClient({ db }: Store): Promise<void> {
  await db.environment.findFirst({ select: { id: true } });
}

/** Throws if the database does not answer or accepts no writes. */
export async function ping(store: Store): Promise<void> {
  await store.checkWritable();
}
