import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { Prisma, PrismaClient } from './generated/client.ts';

/** Seals a value to its place (`<table>.<column>:<row id>`), so that it cannot be read elsewhere. */
export interface Sealer {
  seal(binding: string, plaintext: Uint8Array | string): Uint8Array;
  unseal(binding: string, sealed: Uint8Array): Uint8Array;
}

export interface StoreOptions {
  databaseUrl: string;
  sealer: Sealer;
  /** Where new ids come from: UUIDv7, lower case. */
  newId: () => string;
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
  readonly newId: () => string;
  close(): Promise<void>;
}

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
 * Opens a pool on the database; connects on first use.
 *
 * Statements are named by the hash of their text, because an unnamed one is parsed and planned
 * again each time (measured: twice the CPU). Texts must therefore be few: lists travel as arrays
 * or as one JSON parameter, never as a list of placeholders.
 */
export function openStore(options: StoreOptions): Store {
  const onError = options.onConnectionError ?? (() => {});
  const pool = new Pool({
    connectionString: options.databaseUrl,
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
  const adapter = new PrismaPg(pool, {
    statementNameGenerator: (query) => statementName(query.sql),
    onConnectionError: onError,
    disposeExternalPool: true,
  });
  const db = new PrismaClient({
    adapter,
    transactionOptions: { maxWait: transactionWaitMs, timeout: transactionTimeoutMs },
  });
  return {
    db,
    sealer: options.sealer,
    newId: options.newId,
    close: () => db.$disconnect(),
  };
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

/** The SQLSTATE of an error that Postgres answered, where it was one. */
export function sqlState(error: unknown): string | undefined {
  const cause = adapterCause(error);
  if (cause === undefined || !('originalCode' in cause)) return undefined;
  return typeof cause.originalCode === 'string' ? cause.originalCode : undefined;
}

/** What the driver says of a failed query: from Postgres, or of the way to it. */
function adapterCause(error: unknown): object | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  const adapterError = error.meta?.['driverAdapterError'];
  if (!(adapterError instanceof Error)) return undefined;
  const cause: unknown = adapterError.cause;
  return typeof cause === 'object' && cause !== null ? cause : undefined;
}

export const uniqueViolation = '23505';
const serializationFailure = '40001';
const deadlockDetected = '40P01';

/** Whether the same transaction may simply be run again. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === serializationFailure || state === deadlockDetected;
}

/**
 * Whether the error says that the database cannot be reached or has no room for us now, so that
 * the caller answers `503 unavailable` (CONTRACT.md section 2) instead of `500`.
 */
export function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  // 08: connection; 53: resources; 57P: shutdown, crash, not yet up; 57014: our own time limit.
  if (state !== undefined) return /^(08|53|57P|57014|55P03)/.test(state);
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  const cause = adapterCause(error);
  if (cause !== undefined && 'kind' in cause && unreachableKinds.has(String(cause.kind)))
    return true;
  if (error instanceof Prisma.PrismaClientKnownRequestError)
    return unreachableCodes.has(error.code);
  if (error instanceof Error)
    return unreachableMessage.test(error.message) || isUnavailable(error.cause);
  return false;
}

// P1001 unreachable, P1002 timed out, P1008 operation timed out, P1017 closed, P2024 pool, P2028 transaction.
const unreachableCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028']);
// How the driver adapter names them, where a raw query failed (P2010 says nothing by itself).
const unreachableKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
]);
const unreachableMessage =
  /ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|Connection terminated|timeout exceeded when trying to connect|Can't reach database/;
