import { assertInvariant, statementTimeoutMs } from '@svc/domain';
import type { PoolClient } from 'pg';
import { statementName } from './query.ts';

/**
 * The settings of the services' role in every session. `svc migrate` sets them on the role
 * (decision 34).
 */
export const roleSettings: Readonly<Record<string, string>> = {
  // Every session uses UTC, because Prisma ignores the UTC offset of a time, and because Postgres
  // adds days in the time zone of the session.
  TimeZone: 'UTC',
  // A commit must be on disk before the service answers, also on a synchronous standby if there is
  // one.
  synchronous_commit: 'on',
  // Compiling a statement costs more than running it.
  jit: 'off',
  // Avoids full scans of tables, because a session keeps its plans. A full scan that was planned
  // for a small table would still be used after the table has grown.
  enable_seqscan: 'off',
  // One plan serves all parameter values (decision 23).
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: `${statementTimeoutMs / 1_000}s`,
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
};

/**
 * The settings of a migration's session. The owner of the database may be the services' role, whose
 * time limits (`roleSettings`) must not end a migration.
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
 * Connection options: `ownersSettings` win over `settings` (`-c name=value …`), and both win over
 * the `options` in the URL. A pooler refuses such options.
 */
export function pinnedSession(
  databaseUrl: string,
  settings = '',
): { connectionString: string; options: string } {
  const url = new URL(databaseUrl);
  const own = url.searchParams.get('options') ?? '';
  // `pg` prefers the `options` of the URL to the `options` returned here.
  if (own !== '') url.searchParams.delete('options');
  return {
    connectionString: own === '' ? databaseUrl : url.href,
    options: [own, settings, ownersSettings].filter((part) => part !== '').join(' '),
  };
}

export interface SessionCheck {
  /** The settings that differ from `roleSettings`, such as `jit is on instead of off`. */
  readonly wrongSettings: readonly string[];
  /**
   * True if a pooler is between the store and Postgres. Each transaction may then run in another
   * session.
   */
  readonly isPooled: boolean;
  /**
   * True if prepared statements are safe: there is no pooler, or the pooler renames each statement.
   * Otherwise two clients could prepare statements of the same name in one session.
   */
  readonly keepsStatements: boolean;
}

const sessionSql = `SELECT pg_backend_pid() AS pid,
    EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS has_own_name,
    ARRAY(SELECT current_setting(name) FROM unnest($2::text[]) WITH ORDINALITY AS s (name, at) ORDER BY at) AS found`;

export async function checkSession(client: PoolClient): Promise<SessionCheck> {
  const wanted = Object.entries(roleSettings);
  const name = statementName(sessionSql);
  const { rows } = await client.query<{ pid: number; has_own_name: boolean; found: string[] }>({
    name,
    text: sessionSql,
    values: [name, wanted.map(([setting]) => setting)],
  });
  const [row] = rows;
  assertInvariant(row !== undefined, 'the query for settings returns a row');
  // `processID` is the number that `pg` received when it connected. Postgres sends its process id,
  // and a pooler sends another number.
  const isPooled = Reflect.get(client, 'processID') !== row.pid;
  return {
    wrongSettings: wanted.flatMap(([setting, value], at) =>
      row.found[at] === value ? [] : [`${setting} is ${row.found[at]} instead of ${value}`],
    ),
    isPooled,
    keepsStatements: !isPooled || !row.has_own_name,
  };
}
