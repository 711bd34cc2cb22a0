import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { Pool } from 'pg';

/**
 * Connects the engine to the database of the URL and to a separate shadow database. Without a URL
 * it compares files only and gets a description of a server, which it must not query.
 *
 * @param {string | undefined} databaseUrl
 */
export function adapterFactory(databaseUrl) {
  const adapterName = '@prisma/adapter-pg';
  if (databaseUrl === undefined) {
    const connect = async () => offlineAdapter(adapterName);
    return { provider: 'postgres', adapterName, connect, connectToShadowDb: connect };
  }
  const { schema, ...config } = connectionFields(databaseUrl);
  return {
    provider: 'postgres',
    adapterName,
    connect: () => open(config, schema),
    async connectToShadowDb() {
      const database = `prisma_migrate_shadow_db_${randomUUID()}`;
      const admin = await open({ ...config, max: 1 }, schema);
      await admin.executeScript(`CREATE DATABASE "${database}"`);
      return open({ ...config, database }, schema, async () => {
        await admin.executeScript(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
        await admin.dispose();
      });
    },
  };
}

/** Separate fields, because with a URL pg does not allow another database for the shadow. */
function connectionFields(databaseUrl) {
  const url = new URL(databaseUrl);
  return {
    host: url.hostname,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    schema: url.searchParams.get('schema') ?? 'public',
  };
}

/** The catalogue type "char", which adapter-pg does not know, and the type that replaces it. */
const charOid = 18;
const textOid = 25;

async function open(config, schema, onDispose = async () => {}) {
  const pool = new Pool(config);
  let charColumns = [];
  const poolQuery = pool.query.bind(pool);
  pool.query = async (...parameters) => {
    const result = await poolQuery(...parameters);
    const fields = result.fields ?? [];
    charColumns = fields.flatMap((field, index) => (field.dataTypeID === charOid ? [index] : []));
    for (const index of charColumns) fields[index].dataTypeID = textOid;
    return result;
  };
  const adapter = await new PrismaPg(pool, { schema }).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of charColumns) {
      const isOneCharacter = result.rows.every(
        (row) => row[index] === null || row[index].length === 1,
      );
      if (isOneCharacter) result.columnTypes[index] = ColumnTypeEnum.Character;
    }
    return result;
  };
  // adapter-pg splits a script at every semicolon, also inside functions and strings. The native
  // engine sends the whole script.
  adapter.executeScript = async (sql) => {
    await adapter.executeRaw({ sql, args: [], argTypes: [] });
  };
  adapter.dispose = async () => {
    await pool.end();
    await onDispose();
  };
  return adapter;
}

/** The answers of the newest server to the engine's queries at its start. */
const offlineVersion = {
  columnNames: ['exists', 'version', 'numeric_version'],
  columnTypes: [ColumnTypeEnum.Boolean, ColumnTypeEnum.Text, ColumnTypeEnum.Int32],
  rows: [[true, 'PostgreSQL 18.0', 180_000]],
};

async function refuse() {
  throw new Error('This needs a database: set DATABASE_URL.');
}

function offlineAdapter(adapterName) {
  return {
    provider: 'postgres',
    adapterName,
    getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
    queryRaw: async (query) => (query.sql.includes('version()') ? offlineVersion : refuse()),
    executeRaw: refuse,
    executeScript: refuse,
    startTransaction: refuse,
    dispose: async () => {},
  };
}
