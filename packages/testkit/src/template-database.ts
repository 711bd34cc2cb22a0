import { type RunningPostgres, svcText } from '@svc/local';
import { Client } from 'pg';
import { cleanEnvironment } from './test-environment.ts';

type Server = Pick<RunningPostgres, 'url' | 'databaseUrl' | 'serviceUrl'>;

export interface TemplateOptions {
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onMigrated: (databaseUrl: string) => Promise<void>;
}

const usual: TemplateOptions = { name: 'svc_template', env: {}, onMigrated: async () => {} };

export async function makeTemplate(
  postgres: Server,
  masterKey: string,
  { name, env, onMigrated }: TemplateOptions = usual,
): Promise<string> {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
    await migrate({ postgres, name, masterKey, env });
    await onMigrated(postgres.databaseUrl(name));
    // Forbids connections, because a database with sessions cannot be copied.
    await admin.query(`ALTER DATABASE ${name} WITH is_template true allow_connections false`);
  } finally {
    await admin.end();
  }
  return name;
}

async function migrate({
  postgres,
  name,
  masterKey,
  env,
}: {
  postgres: Server;
  name: string;
  masterKey: string;
  env: NodeJS.ProcessEnv;
}): Promise<void> {
  await svcText(['migrate'], {
    ...cleanEnvironment(),
    SVC_ENVIRONMENT: 'sandbox',
    MIGRATION_DATABASE_URL: postgres.databaseUrl(name),
    DATABASE_URL: postgres.serviceUrl(name),
    SVC_MASTER_KEY: masterKey,
    ...env,
  });
}
