import { DatabaseError } from 'pg';
import { Prisma } from '../generated/client.ts';

/** Too many calls already wait for the database. */
export class BatchOverflow extends Error {
  override readonly name = 'BatchOverflow';
}

/** The database did not answer in time. It may have processed the call, or may still process it. */
export class AnswerOverdue extends Error {
  override readonly name = 'AnswerOverdue';

  constructor(waitedMs: number) {
    super(`the database did not answer within ${waitedMs} ms`);
  }
}

/** A transaction exceeded its time limit and was rolled back. */
export class TransactionExpired extends Error {
  override readonly name = 'TransactionExpired';
}

/** The server of a connection is a standby, or its sessions are read-only for another reason. */
export class WritesRefused extends Error {
  override readonly name = 'WritesRefused';

  constructor({ isStandby }: { readonly isStandby: boolean }) {
    super(
      isStandby
        ? 'the Postgres server is a standby, which accepts no writes'
        : 'the Postgres server accepts no writes, because default_transaction_read_only is on',
    );
  }
}

/** The SQLSTATE of an error that Postgres returned. Undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
  const cause = adapterCause(error);
  if (cause === undefined || !('originalCode' in cause)) return undefined;
  return typeof cause.originalCode === 'string' ? cause.originalCode : undefined;
}

function adapterCause(error: unknown): object | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  const adapterError = error.meta?.['driverAdapterError'];
  if (!(adapterError instanceof Error)) return undefined;
  const cause: unknown = adapterError.cause;
  return typeof cause === 'object' && cause !== null ? cause : undefined;
}

export const uniqueViolation = '23505';
export const insufficientPrivilege = '42501';
const serializationFailure = '40001';
const deadlockDetected = '40P01';
const readOnlyTransaction = '25006';
const failedTransaction = '25P02';
const lockNotAvailable = '55P03';

/**
 * True if a transaction failed only because of concurrent ones: a deadlock or a serialization
 * failure. The transaction can be run again.
 */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === serializationFailure || state === deadlockDetected;
}

export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === lockNotAvailable;
}

/** True if the session accepts no writes. A new session may accept them (CONTRACT 9). */
export function isReadOnly(error: unknown): boolean {
  return error instanceof WritesRefused || sqlState(error) === readOnlyTransaction;
}

/** True if an earlier error of the transaction is the cause. */
export function isAfterFailure(error: unknown): boolean {
  return sqlState(error) === failedTransaction;
}

/**
 * True if the database cannot be reached, is read-only, too slow or without capacity, or after a
 * conflict with other transactions. Such a request gets `503 unavailable` (CONTRACT 2).
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof BatchOverflow || error instanceof TransactionExpired) return true;
  if (error instanceof AnswerOverdue || isReadOnly(error)) return true;
  if (isTransient(error)) return true;
  const state = sqlState(error);
  // 08: connection. 28, 3D000: no access. 53: resources. 57P: shutdown, crash or start-up. The rest:
  // time limits for a transaction, a statement and a lock.
  if (state !== undefined) return /^(08|25P0[34]|28|3D000|53|57P|57014|55P03)/.test(state);
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  const cause = adapterCause(error);
  if (cause !== undefined && 'kind' in cause && unreachableKinds.has(String(cause.kind)))
    return true;
  if (error instanceof Prisma.PrismaClientKnownRequestError)
    return unreachableCodes.has(error.code);
  if (error instanceof AggregateError) return error.errors.some((one) => isUnavailable(one));
  if (error instanceof Error)
    return unreachableMessage.test(error.message) || isUnavailable(error.cause);
  return false;
}

/**
 * True for errors of `isUnavailable` other than lock time-outs and conflicts. The caller must then
 * assume that the query may have had an effect.
 */
export function isAnswerLost(error: unknown): boolean {
  // Both exceptions prove that the statement had no effect, and concern only its rows.
  return isUnavailable(error) && !isLockTimeout(error) && !isTransient(error);
}

// The typed client's codes: P1001 unreachable, P1002 timed out, P1008 operation timed out, P1017
// closed, P2024 no free connection, P2028 transaction failed.
const unreachableCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028']);
// The names by which the typed client's adapter reports an unavailable database.
const unreachableKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
]);
const unreachableMessage =
  /Query read timeout|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|connect ENOENT|Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Can't reach database/;
