import { Client, escapeIdentifier } from 'pg';
import { logLine } from './engine-log.mjs';

/** The parts of the CLI's messages to its user, by SQLSTATE or by the system's error code. */
const errorCodes = {
  '3D000': ['P1003', 'The database does not exist'],
  '28P01': ['P1000', 'Authentication failed'],
  ECONNREFUSED: ['P1001', 'The database server cannot be reached'],
};

/** The name in a database's URL, and the URL of the database from which it is created or dropped. */
function split(databaseUrl) {
  const url = new URL(databaseUrl);
  const name = decodeURIComponent(url.pathname.slice(1));
  for (const parameter of ['schema', 'connection_limit']) url.searchParams.delete(parameter);
  const ownUrl = url.href;
  url.pathname = '/postgres';
  return { name, ownUrl, adminUrl: url.href };
}

async function run(connectionString, sql) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** @param {string} databaseUrl */
export async function createDatabase(databaseUrl) {
  const { name, adminUrl } = split(databaseUrl);
  await run(adminUrl, `CREATE DATABASE ${escapeIdentifier(name)}`);
  return { databaseName: name };
}

async function dropDatabase(databaseUrl) {
  const { name, adminUrl } = split(databaseUrl);
  await run(adminUrl, `DROP DATABASE ${escapeIdentifier(name)} WITH (FORCE)`);
}

const commands = {
  'can-connect-to-database': (databaseUrl) => run(split(databaseUrl).ownUrl, 'SELECT 1'),
  'create-database': createDatabase,
  'drop-database': dropDatabase,
};

/**
 * `cli <command>`: runs one command on a database and exits. Errors are reported like in the
 * native engine, in the log and by exit code 1.
 *
 * @param {string} name
 * @param {string} databaseUrl
 */
export async function runDatabaseCommand(name, databaseUrl) {
  try {
    const command = commands[name];
    if (command === undefined) throw new Error(`there is no command ${name}`);
    await command(databaseUrl);
  } catch (error) {
    const [errorCode, message] = errorCodes[error.code] ?? ['P1011', error.message];
    // The CLI reads the first line as the engine's greeting.
    logLine('INFO', { message: 'Starting schema engine CLI' });
    logLine('ERROR', { is_panic: false, error_code: errorCode, message });
    process.exitCode = 1;
  }
}
