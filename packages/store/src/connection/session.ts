import { assertInvariant, statementTimeoutMs } from '@svc/domain';
import type { PoolClient } from 'pg';
import { statementName } from './query.ts';

/**
 * The settings of the services' role in every session. `svc migrate` sets them on the role. A store
 * sends none of them, because a pooler in transaction mode refuses start parameters.
 *
 * Parameters must bound an index directly, because plans are generic: `id > COALESCE(…)`, never `…
 * IS NULL OR id > …`. A statement that finds rows by their ids has no condition of a partial index: it
 * takes the states as a parameter, and does not ask whether there is a payload. Otherwise the planner
 * may read the whole partial index, if that was small when the table was last analysed: measured, 180
 * pages instead of 2 for an assignment.
 */
export const roleSettings: Readonly<Record<string, string>> = {
  // The driver drops the offset of times, and arithmetic with days follows the session's zone.
  TimeZone: 'UTC',
  // An answer keeps its promise only if the commit before it is on disk.
  synchronous_commit: 'on',
  // Compiling a statement costs more than running it.
  jit: 'off',
  // Plans are kept. A full scan, planned on a small table, would be used after it has grown.
  enable_seqscan: 'off',
  // One plan for all values. A hold takes 0.7 ms instead of 1.2 ms.
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: `${statementTimeoutMs / 1_000}s`,
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

/**
 * Settings that a session of the owner sets explicitly. The owner may be the services' role too, and
 * a migration must not end at the time limits of a service.
 */
const ownersSettings = [
  'TimeZone=UTC',
  'synchronous_commit=on',
  'enable_seqscan=on',
  'plan_cache_mode=auto',
  'statement_timeout=0',
  'lock_timeout=0',
  'idle_in_transaction_session_timeout=0',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/**
 * The connection options of the owner for `databaseUrl`, with `settings` (`-c name=value …`) and the
 * owner's settings. The owner's settings win over the `options` in the URL. The connection must go
 * to Postgres directly, because a pooler refuses these options.
 */
export function pinnedSession(
  databaseUrl: string,
  settings = '',
): { connectionString: string; options: string } {
  const url = new URL(databaseUrl);
  const own = url.searchParams.get('options') ?? '';
  // The driver prefers the URL's `options` to the `options` argument.
  if (own !== '') url.searchParams.delete('options');
  return {
    connectionString: own === '' ? databaseUrl : url.href,
    options: [own, settings, ownersSettings].filter((part) => part !== '').join(' '),
  };
}

export interface SessionCheck {
  /** The settings that differ from `roleSettings`, such as `jit is on instead of off`. */
  readonly wrongSettings: readonly string[];
  /** A pooler gives each transaction any session of Postgres. */
  readonly isPooled: boolean;
  /** False if a pooler passes the names of statements on, so that clients mix them up. */
  readonly keepsStatements: boolean;
}

const sessionSql = `SELECT pg_backend_pid() AS pid,
    EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS has_own_name,
    ARRAY(SELECT current_setting(name) FROM unnest($2::text[]) WITH ORDINALITY AS s (name, at) ORDER BY at) AS found`;

/** Reads back what a session of Postgres has. */
export async function checkSession(client: PoolClient): Promise<SessionCheck> {
  const wanted = Object.entries(roleSettings);
  const name = statementName(sessionSql);
  const { rows } = await client.query<{ pid: number; has_own_name: boolean; found: string[] }>({
    name,
    text: sessionSql,
    values: [name, wanted.map(([setting]) => setting)],
  });
  const [row] = rows;
  assertInvariant(row !== undefined, 'a session has settings');
  // The driver keeps the process id that the other end has sent. A pooler sends another number.
  const isPooled = Reflect.get(client, 'processID') !== row.pid;
  return {
    wrongSettings: wanted.flatMap(([setting, value], at) =>
      row.found[at] === value ? [] : [`${setting} is ${row.found[at]} instead of ${value}`],
    ),
    isPooled,
    keepsStatements: !isPooled || !row.has_own_name,
  };
}
