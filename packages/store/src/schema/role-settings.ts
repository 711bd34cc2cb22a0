import { setTimeout as pause } from 'node:timers/promises';
import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { insufficientPrivilege, isUnavailable, sqlState } from '../connection/errors.ts';
import { connectClient } from '../connection/hosts.ts';
import { roleSettings } from '../connection/session.ts';

export type GrantOutcome = { kind: 'granted' } | { kind: 'refused'; reason: string };

export interface SettingsTarget {
  readonly role: string;
  /** The URL with which services connect as this role. */
  readonly serviceUrl: string;
  /**
   * `role`: the settings apply in every database. `database`: the settings apply only in the
   * service's database. That is so if the services' role is also the owner (decision 34).
   */
  readonly scope: 'role' | 'database';
}

/**
 * The SQLSTATE of the error if two sessions change existing settings of a role at the same time.
 * Other internal errors of Postgres have the same SQLSTATE.
 */
const concurrentlyUpdated = 'XX000';
const attemptsMax = 5;
const pauseMs = 50;

/**
 * Gives the services' role its missing settings. If the owner may not set them, the role sets them
 * itself. Returns `refused` if that fails.
 */
export async function giveSettings(owner: Client, target: SettingsTarget): Promise<GrantOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const statements = await missingSettings(owner, target);
    if (statements === '') return { kind: 'granted' };
    try {
      await owner.query(statements);
    } catch (error) {
      if (sqlState(error) === insufficientPrivilege) return await asRole(target, statements);
      if (sqlState(error) !== concurrentlyUpdated || attempt === attemptsMax) throw error;
      await pause(pauseMs);
    }
  }
}

/** SQL that gives the role its missing settings. Empty if the role has all settings. */
async function missingSettings(owner: Client, { role, scope }: SettingsTarget): Promise<string> {
  const { rows } = await owner.query<{ database: string; settings: string[] }>(
    `SELECT current_database() AS database, ARRAY(
       SELECT unnest(setconfig) FROM pg_db_role_setting
       WHERE setrole = to_regrole(quote_ident($1)) AND setdatabase = CASE WHEN $2 THEN
         (SELECT oid FROM pg_database WHERE datname = current_database()) ELSE 0::oid END
     ) AS settings`,
    [role, scope === 'database'],
  );
  const present = new Set(rows[0]?.settings);
  const where =
    scope === 'database' ? ` IN DATABASE ${escapeIdentifier(rows[0]?.database ?? '')}` : '';
  return Object.entries(roleSettings)
    .filter(([name, value]) => !present.has(`${name}=${value}`))
    .map(
      ([name, value]) =>
        `ALTER ROLE ${escapeIdentifier(role)}${where} SET ${name} = ${escapeLiteral(value)}`,
    )
    .join(';\n');
}

async function asRole(
  { role, serviceUrl }: SettingsTarget,
  statements: string,
): Promise<GrantOutcome> {
  try {
    const client = await connectClient(serviceUrl, (connectionString) => ({
      connectionString,
      application_name: 'svc-migrate',
    }));
    try {
      await client.query(statements);
    } finally {
      await client.end();
    }
    return { kind: 'granted' };
  } catch (error) {
    if (!isUnavailable(error) && sqlState(error) === undefined) throw error;
    const reason = `DATABASE_URL names the role ${role}. Neither the role that migrates nor ${role} itself could change the settings of ${role}. Run these statements as an administrator: ${statements.replaceAll(';\n', '; ')}`;
    return { kind: 'refused', reason };
  }
}
