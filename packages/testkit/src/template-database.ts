import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { adminCliEntry, checkoutDir, type RunningPostgres, svcText } from '@svc/local';
import { Client } from 'pg';
import { bareEnvironment } from './test-environment.ts';

const name = 'svc_template';

/** Makes the migrated database that test databases are copied from; returns its name. */
export async function makeTemplate(postgres: RunningPostgres, masterKey: string): Promise<string> {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
    await migrate(postgres.databaseUrl(name), masterKey);
    // Nobody may connect to it: a database with sessions cannot be copied.
    await admin.query(`ALTER DATABASE ${name} WITH is_template true allow_connections false`);
  } finally {
    await admin.end();
  }
  return name;
}

async function migrate(databaseUrl: string, masterKey: string): Promise<void> {
  if (!existsSync(adminCliEntry)) return migrateByHand(databaseUrl);
  await svcText(['migrate'], {
    ...bareEnvironment(),
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: databaseUrl,
    SVC_MASTER_KEY: masterKey,
  });
}

/** Until there is a CLI: the migrations as they are. */
async function migrateByHand(databaseUrl: string): Promise<void> {
  const code = `import { migrate } from './packages/store/src/migrate.ts'; await migrate(process.argv[1]);`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code, databaseUrl], {
    cwd: checkoutDir,
  });
}
