import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { commonConfig, flag, loadConfig } from '@svc/runtime';
import { Type, type Static } from 'typebox';
import { Refusal } from './refusal.ts';

export const adminCliConfig = Type.Object({
  SVC_ENVIRONMENT: commonConfig.SVC_ENVIRONMENT,
  DATABASE_URL: commonConfig.DATABASE_URL,
  MIGRATION_DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description: 'the URL of Postgres for the role that owns and migrates the tables',
    }),
  ),
  REDIS_URL: Type.Optional(commonConfig.REDIS_URL),
  SVC_MASTER_KEY: commonConfig.SVC_MASTER_KEY,
  SVC_MASTER_KEY_FILE: commonConfig.SVC_MASTER_KEY_FILE,
  REDIS_PREFIX: commonConfig.REDIS_PREFIX,
  SVC_OPERATOR_ID: Type.Optional(
    Type.String({ description: 'the id of the operator that runs svc, op_…' }),
  ),
  SVC_OPERATOR_SECRET: Type.Optional(
    Type.String({ description: 'the secret osk_… of the operator that SVC_OPERATOR_ID names' }),
  ),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: flag(
    '0',
    '1 to allow http and private hosts for webhooks, else 0',
  ),
});

export type Configuration = Static<typeof adminCliConfig>;

const checkoutDirectory = path.resolve(import.meta.dirname, '../../..');

/**
 * If DATABASE_URL is not set, uses the stack that `npm start` runs (CONTRACT 9), or throws Refusal
 * if no such stack runs. Throws ConfigError for an invalid variable.
 */
export function readConfiguration(env: NodeJS.ProcessEnv): Configuration {
  if (isSet(env['DATABASE_URL'])) {
    return loadConfig(adminCliConfig, { SVC_ENVIRONMENT: 'sandbox', ...env });
  }
  const stack = readRunningStack(env);
  if (stack === null) {
    throw new Refusal(
      'No local stack is running. Start one with `npm start`, or set DATABASE_URL, REDIS_URL and SVC_MASTER_KEY.',
    );
  }
  return loadConfig(adminCliConfig, { ...env, ...stack });
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

interface StackFile {
  pid: number;
  databaseUrl: string;
  migrationDatabaseUrl?: string;
  redisUrl: string;
  masterKey: string;
}

/** Null if there is no `stack.json`, or if its process does not run or belongs to another user. */
function readRunningStack(env: NodeJS.ProcessEnv): Record<string, string> | null {
  const directory = path.resolve(checkoutDirectory, env['SVC_LOCAL_DIR'] ?? '.local');
  const file = path.join(directory, 'stack.json');
  if (!existsSync(file)) return null;
  const stack: StackFile = JSON.parse(readFileSync(file, 'utf8'));
  if (!isAlive(stack.pid)) return null;
  return {
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: stack.databaseUrl,
    MIGRATION_DATABASE_URL: stack.migrationDatabaseUrl ?? '',
    REDIS_URL: stack.redisUrl,
    SVC_MASTER_KEY: stack.masterKey,
    SVC_MASTER_KEY_FILE: '',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
