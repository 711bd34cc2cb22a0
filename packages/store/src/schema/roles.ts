import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { insufficientPrivilege, sqlState } from '../connection/errors.ts';
import { urlsOfHosts } from '../connection/hosts.ts';
import type { Store } from '../connection/store.ts';
import { giveSettings, type GrantOutcome } from './role-settings.ts';

/**
 * Production has two database roles. `svc migrate` connects as the owner. The services and the
 * other commands of `svc` use the second role, which has only the privileges below.
 */

const append = ['SELECT', 'INSERT'] as const;
const change = ['SELECT', 'INSERT', 'UPDATE'] as const;

/** The privileges of the services' role on each table. A test compares the list with the schema. */
export const servicePrivileges: Readonly<Record<string, readonly string[]>> = {
  _prisma_migrations: ['SELECT'],
  // A trigger writes the next table, with the owner's rights.
  audit_chain: ['SELECT'],
  audit_head: change,
  audit_log: append,
  // Only migrations write the next two tables.
  backfills: ['SELECT'],
  schema_floors: ['SELECT'],
  ledger_entries: append,
  rate_cards: append,
  // A rotation of the master key writes these two columns. The role may not update the
  // environment's name, because the name never changes.
  environment: [...append, 'UPDATE (request_hash_key_sealed, reseal_started_at)'],
  credit_accounts: change,
  deliveries: change,
  delivery_attempts: change,
  events: change,
  job_type_usage: change,
  // A process deletes its row when it ends, and those that have been silent for a day.
  key_holders: [...change, 'DELETE'],
  // Each of the next two tables has one column that is sealed under the master key. A program that
  // has this role but not that key cannot forge the values of this column.
  ledger_audit: change,
  ledger_checkpoints: change,
  ledger_verdict: change,
  // Rows older than an hour are deleted when another signature arrives. They are locked first, and
  // the lock needs the privilege to update.
  node_link_signatures: [...change, 'DELETE'],
  nodes: change,
  operators: change,
  purchase_intents: change,
  purchases: change,
  recoveries: change,
  recovery_findings: change,
  recovery_nodes: append,
  // Only earlier builds write the next table.
  recovery_reports: change,
  recovery_unreadable: change,
  // A row is deleted when its subject is reconciled, or needs no more work of the reconciler.
  reconcile_failures: [...change, 'DELETE'],
  // A rotation of the master key deletes the ids of keys that are no longer used.
  sealing_keys: [...change, 'DELETE'],
  solana_cursors: change,
  solana_payments: append,
  // A row is deleted when its signature has been read.
  solana_unread_signatures: [...change, 'DELETE'],
  solana_watcher: change,
  submissions: change,
  // A trigger writes the next table, with the owner's rights.
  submissions_in_flight: ['SELECT'],
  surge_pin: change,
  // A key is deleted when it is revoked. An expired named key is deleted when its tenant creates
  // another key.
  tenant_secrets: [...change, 'DELETE'],
  tenants: change,
  // An expired row is deleted. No row is ever changed, but the lock on a row needs the privilege to
  // update.
  trace_contexts: [...change, 'DELETE'],
  // A second report of a submission in the same millisecond updates the row of the first report.
  usage_reports: change,
  webhook_caps: change,
  // An endpoint is deleted if it was retired over an hour ago and its deliveries have ended.
  webhook_endpoints: [...change, 'DELETE'],
};

const sequences = ['audit_log_id_seq', 'ledger_entries_sequence_seq', 'rate_cards_version_seq'];

/**
 * Functions that run with the owner's rights. The services' role does not have the privileges for
 * their work.
 */
const ownersFunctions = [
  'svc_chain_audit',
  'svc_delete_events',
  'svc_drop_partition',
  'svc_make_partition',
  'svc_track_in_flight',
];

const roleExists = ['42710', '23505'];

/**
 * Creates the role of `serviceUrl` if it is missing, and gives it `servicePrivileges` and its
 * settings. If it is the role of `owner` itself, it gets only the settings.
 */
export async function grantService(owner: Client, serviceUrl: string): Promise<GrantOutcome> {
  const { role, password } = accountOf(serviceUrl);
  const { rows } = await owner.query<{ is_owner: boolean; exists: boolean; schema: string }>(
    `SELECT $1 = current_user AS is_owner, to_regrole(quote_ident($1)) IS NOT NULL AS exists,
       current_schema() AS schema`,
    [role],
  );
  const [found] = rows;
  if (found === undefined) return { kind: 'granted' };
  if (found.is_owner) return giveSettings(owner, { role, serviceUrl, scope: 'database' });
  if (!found.exists) {
    const reason = await createRole(owner, role, password);
    if (reason !== undefined) return { kind: 'refused', reason };
  }
  await owner.query('BEGIN');
  try {
    await owner.query(grantsTo(role, found.schema, await existingNames(owner)));
    await secureFunctions(owner, role, found.schema);
    await owner.query('COMMIT');
  } catch (error) {
    await owner.query('ROLLBACK');
    throw error;
  }
  return giveSettings(owner, { role, serviceUrl, scope: 'role' });
}

function accountOf(databaseUrl: string): { role: string; password: string } {
  const { username, password, searchParams } = new URL(urlsOfHosts(databaseUrl)[0]);
  const role = decodeURIComponent(username) || (searchParams.get('user') ?? '');
  return { role, password: decodeURIComponent(password) };
}

/**
 * Creates the role if it does not exist. Returns the reason if `role` is empty or `owner` may not
 * create roles. Throws other errors.
 */
async function createRole(
  owner: Client,
  role: string,
  password: string,
): Promise<string | undefined> {
  if (role === '')
    return 'DATABASE_URL has no user name. Add the role of the services as its user name';
  const create = `CREATE ROLE ${escapeIdentifier(role)} LOGIN`;
  try {
    await owner.query(
      password === '' ? create : `${create} PASSWORD ${escapeLiteral(scramVerifier(password))}`,
    );
    return undefined;
  } catch (error) {
    const state = sqlState(error) ?? '';
    if (roleExists.includes(state)) return undefined;
    if (state !== insufficientPrivilege) throw error;
    return `the role ${role} of DATABASE_URL does not exist, and the role of MIGRATION_DATABASE_URL cannot create it. Run \`${create} PASSWORD '…'\` as an administrator`;
  }
}

const scramIterations = 4096;
const scramSaltBytes = 16;
const scramKeyBytes = 32;

/**
 * Returns the verifier that Postgres stores for a password (RFC 5803). `CREATE ROLE` contains it
 * instead of the password, so the password cannot get into the log of Postgres.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(scramSaltBytes);
  const salted = pbkdf2Sync(password, salt, scramIterations, scramKeyBytes, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${scramIterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}

/**
 * The names of existing tables, sequences and columns (as `nodes.id`). A table or column is missing
 * while the migration that adds it waits (`migrate.ts`).
 */
async function existingNames(owner: Client): Promise<ReadonlySet<string>> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
     UNION ALL
     SELECT table_name || '.' || column_name FROM information_schema.columns
     WHERE table_schema = current_schema()`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Returns a privilege without the columns that do not exist: `UPDATE (a, b)` becomes `UPDATE (a)`.
 * Empty if none of its columns exists.
 */
function presentPart(table: string, privilege: string, existing: ReadonlySet<string>): string[] {
  const [, verb, columns] = /^(\w+) \((.*)\)$/.exec(privilege) ?? [];
  if (columns === undefined) return [privilege];
  const present = columns.split(', ').filter((column) => existing.has(`${table}.${column}`));
  return present.length === 0 ? [] : [`${verb} (${present.join(', ')})`];
}

function grantsTo(name: string, schemaName: string, existing: ReadonlySet<string>): string {
  const [role, schema] = [escapeIdentifier(name), escapeIdentifier(schemaName)];
  const present = Object.entries(servicePrivileges).filter(([table]) => existing.has(table));
  const tables = present.flatMap(([table, privileges]) => [
    `REVOKE ALL ON ${escapeIdentifier(table)} FROM ${role}`,
    `GRANT ${privileges.flatMap((one) => presentPart(table, one, existing)).join(', ')} ON ${escapeIdentifier(table)} TO ${role}`,
  ]);
  return [
    // Otherwise the role could create tables here and make the owner's functions use them.
    `REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC, ${role}`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    ...tables,
    ...sequences
      .filter((sequence) => existing.has(sequence))
      .map((sequence) => `GRANT USAGE ON SEQUENCE ${sequence} TO ${role}`),
  ].join(';\n');
}

async function secureFunctions(owner: Client, role: string, schema: string): Promise<void> {
  const { rows } = await owner.query<{ signature: string }>(
    `SELECT oid::regprocedure::text AS signature FROM pg_proc
     WHERE pronamespace = current_schema()::regnamespace AND proname = ANY($1::text[])`,
    [ownersFunctions],
  );
  for (const { signature } of rows) {
    await owner.query(
      `ALTER FUNCTION ${signature} SECURITY DEFINER SET search_path = ${escapeIdentifier(schema)}, pg_temp;
       REVOKE EXECUTE ON FUNCTION ${signature} FROM PUBLIC;
       GRANT EXECUTE ON FUNCTION ${signature} TO ${escapeIdentifier(role)}`,
    );
  }
}

const appendOnlyTables = [
  'ledger_entries',
  'audit_log',
  'audit_chain',
  'rate_cards',
  'solana_payments',
];

/**
 * The privileges of the connected role that a service must not have, such as `may create roles`.
 * Empty if the role is suitable for services.
 */
export async function excessPrivileges(store: Store): Promise<string[]> {
  const [row] = await store.query<{ excess: string[] }>(
    `SELECT array_remove(ARRAY[
       CASE WHEN r.rolsuper THEN 'is a superuser' END,
       CASE WHEN NOT r.rolsuper AND EXISTS (
         SELECT FROM pg_roles o WHERE o.rolsuper AND pg_has_role(o.oid, 'MEMBER')
       ) THEN 'may become a superuser' END,
       CASE WHEN NOT r.rolsuper AND EXISTS (
         SELECT FROM pg_roles o WHERE o.rolcreaterole AND NOT o.rolsuper AND pg_has_role(o.oid, 'MEMBER')
       ) THEN 'may create roles' END,
       CASE WHEN NOT r.rolsuper AND EXISTS (
         SELECT FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND pg_has_role(c.relowner, 'MEMBER')
       ) THEN 'owns tables' END,
       CASE WHEN NOT r.rolsuper AND has_parameter_privilege('session_replication_role', 'SET')
         THEN 'may switch off triggers' END,
       CASE WHEN NOT r.rolsuper AND has_schema_privilege(current_schema(), 'CREATE')
         THEN 'may create tables' END,
       CASE WHEN NOT r.rolsuper AND EXISTS (
         SELECT FROM unnest($1::text[]) AS t (name)
         WHERE has_table_privilege(t.name, 'UPDATE, DELETE, TRUNCATE, TRIGGER')
           OR has_any_column_privilege(t.name, 'UPDATE')
       ) THEN 'may change the ledger or the audit log' END
     ]::text[], NULL) AS excess
     FROM pg_roles r WHERE r.rolname = current_user`,
    [appendOnlyTables],
  );
  return row?.excess ?? [];
}

/**
 * The privileges of `servicePrivileges` that the connected role lacks, such as `INSERT on nodes`.
 * Missing tables and privileges on single columns are not checked.
 */
export async function missingPrivileges(store: Store): Promise<string[]> {
  const wanted = Object.entries(servicePrivileges).flatMap(([table, privileges]) =>
    privileges
      .filter((privilege) => !privilege.includes('('))
      .map((privilege) => ({ table, privilege })),
  );
  const rows = await store.query<{ missing: string }>(
    `SELECT format('%s on %s', w.privilege, w.name) AS missing
     FROM unnest($1::text[], $2::text[]) AS w (name, privilege)
     WHERE to_regclass(w.name) IS NOT NULL AND NOT has_table_privilege(w.name, w.privilege)
     ORDER BY 1`,
    [wanted.map(({ table }) => table), wanted.map(({ privilege }) => privilege)],
  );
  return rows.map(({ missing }) => missing);
}
