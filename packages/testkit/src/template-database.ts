import { type RunningPostgres, svcText } from '@svc/local';
import { Client } from 'pg';
import { bareEnvironment } from './test-environment.ts';

const name = 'svc_template';

/** Makes the migrated database that test databases are copied from; returns its name. */
export async function makeTemplate(postgres: RunningPostgres, masterKey: string): Promise<string> {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
    await migrate(postgres, masterKey);
    // Nobody may connect to it: a database with sessions cannot be copied.
    await admin.query(`ALTER DATABASE ${name} WITH is_template true allow_connections false`);
  } finally {
    await admin.end();
  }
  return name;
}

async function migrate(postgres: RunningPostgres, masterKey: string): Promise<void> {
  await svcText(['migrate'], {
    ...bareEnvironment(),
    SVC_ENVIRONMENT: 'sandbox',
    MIGRATION_DATABASE_URL: postgres.databaseUrl(name),
    DATABASE_URL: postgres.serviceUrl(name),
    SVC_MASTER_KEY: masterKey,
  });
}
