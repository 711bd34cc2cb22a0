import { DatabaseError } from 'pg';
import { Prisma } from '../generated/client.ts';

/** More calls wait for the database than can be held. */
export class BatchOverflow extends Error {
  override readonly name = 'BatchOverflow';
}

/** The database did not answer a call in its time: it may have been done, or may yet be done. */
export class AnswerOverdue extends Error {
  override readonly name = 'AnswerOverdue';

  constructor(waitedMs: number) {
    super(`the database did not answer within ${waitedMs} ms`);
  }
}

/** A transaction took longer than it may, and was rolled back. */
export class TransactionExpired extends Error {
  override readonly name = 'TransactionExpired';
}

/** The SQLSTATE of an error that Postgres answered, where it was one. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
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
export const insufficientPrivilege = '42501';
const serializationFailure = '40001';
const deadlockDetected = '40P01';
const lockNotAvailable = '55P03';

/** Whether the same transaction may simply be run again. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === serializationFailure || state === deadlockDetected;
}

/**
 * Whether the error says that the database cannot be reached or has no room for us now, so that
 * the caller answers `503 unavailable` (CONTRACT 2) instead of `500`.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof BatchOverflow || error instanceof TransactionExpired) return true;
  if (error instanceof AnswerOverdue) return true;
  const state = sqlState(error);
  // 08: connection; 53: resources; 57P: shutdown, crash, not yet up; 57014: our own time limit.
  if (state !== undefined) return /^(08|53|57P|57014|55P03)/.test(state);
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
 * Whether the error says nothing about what was asked: the server could not be reached, or its
 * answer was lost. A wait for a lock that took too long is an answer.
 */
export function isAnswerLost(error: unknown): boolean {
  return isUnavailable(error) && sqlState(error) !== lockNotAvailable;
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
  /Query read timeout|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Can't reach database/;
