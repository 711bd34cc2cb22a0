import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, escapeLiteral } from 'pg';
import {
  insufficientPrivilege,
  isLockTimeout,
  isTransient,
  sqlState,
} from '../connection/errors.ts';
import type { Migration } from './files.ts';
import { concurrentIndex, isOutsideTransaction, splitStatements } from './statements.ts';

export interface LockPatience {
  /**
   * The longest wait for a lock. Requests queue behind a waiting migration, so the wait is short.
   * `… INDEX CONCURRENTLY` has no such limit.
   */
  readonly lockTimeoutMs: number;
  readonly attemptsMax: number;
  /** The pause after the first attempt. Each later pause is doubled, up to `pauseMsMax`. */
  readonly pauseMs: number;
}

export const lockPatience: LockPatience = { lockTimeoutMs: 500, attemptsMax: 60, pauseMs: 250 };
const pauseMsMax = 5_000;

/**
 * Applies one migration and records it as Prisma does (decision 33). Throws after `attemptsMax`
 * attempts if other sessions cause the failure, and at once for other errors.
 */
export async function applyMigration(
  client: Client,
  migration: Migration,
  patience: LockPatience,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await applyOnce(client, migration, patience);
      return;
    } catch (error) {
      // Other sessions cause these errors, so a later attempt may succeed.
      const isLocked = isLockTimeout(error) || isTransient(error);
      if (isLocked && attempt < patience.attemptsMax) {
        await pause(Math.min(pauseMsMax, patience.pauseMs * 2 ** (attempt - 1)));
        continue;
      }
      if (sqlState(error) === insufficientPrivilege) throw error;
      throw new Error(failureText(migration, isLocked), { cause: error });
    }
  }
}

function failureText({ name, sql }: Migration, isLocked: boolean): string {
  const isOutside = splitStatements(sql).some(isOutsideTransaction);
  const what = isOutside
    ? `migration ${name} failed. Its finished part stays; run \`svc migrate\` again to continue`
    : `migration ${name} failed and was rolled back`;
  return isLocked
    ? `${what}. Other sessions hold a lock that it needs. End them, then run \`svc migrate\` again`
    : what;
}

async function applyOnce(
  client: Client,
  migration: Migration,
  { lockTimeoutMs }: LockPatience,
): Promise<void> {
  const statements = splitStatements(migration.sql);
  const [outside] = statements.filter(isOutsideTransaction);
  if (outside === undefined) return applyInTransaction(client, migration, lockTimeoutMs);
  if (statements.length > 1)
    throw new Error('a statement that commits on its own must be the only one of its migration');
  const index = concurrentIndex(outside);
  // `CREATE INDEX CONCURRENTLY` and `DROP INDEX CONCURRENTLY` block no request while they wait for
  // a lock, so they have no time limit.
  const isIndex = /INDEX CONCURRENTLY/i.test(outside);
  await client.query(`SET lock_timeout = ${isIndex ? 0 : lockTimeoutMs}`);
  const isBuilt = index !== undefined && (await hasIndex(client, index));
  if (!isBuilt) await client.query(migration.sql);
  await record(client, migration);
}

async function applyInTransaction(
  client: Client,
  migration: Migration,
  lockTimeoutMs: number,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await client.query(migration.sql);
    await record(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/**
 * True if the index is complete. Drops an invalid index, because it slows down each write and
 * serves no query. An interrupted or failed build leaves such an index.
 */
async function hasIndex(client: Client, index: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(${escapeLiteral(index)})`,
  );
  const [found] = rows;
  if (found === undefined) return false;
  if (!found.valid) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  return found.valid;
}

async function record(client: Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}
