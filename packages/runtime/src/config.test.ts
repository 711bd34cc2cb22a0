import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import { commonConfig, ConfigError, flag, loadConfig } from './config.ts';

const schema = Type.Object({ ...commonConfig, EXAMPLE: flag('0', '1 for yes, 0 for no') });
const complete = {
  SVC_ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://postgres@127.0.0.1:5432/svc',
  REDIS_URL: 'redis://127.0.0.1:6379',
  SVC_MASTER_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

test('numbers are parsed, and unset variables have their defaults', () => {
  const config = loadConfig(schema, { ...complete, RECONCILE_INTERVAL_MS: '250', UNRELATED: 'x' });
  expect(config).toEqual({
    ...complete,
    DATABASE_ALLOW_ASYNC_STANDBY: '0',
    DATABASE_POOL_MAX: 10,
    DATABASE_BATCH_MAX: 64,
    DATABASE_CONNECT_TIMEOUT_MS: 5_000,
    DATABASE_ANSWER_TIMEOUT_MS: 15_000,
    RECONCILE_INTERVAL_MS: 250,
    REDIS_PREFIX: 'svc',
    LOG_LEVEL: 'info',
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: 0,
    EXAMPLE: '0',
  });
});

test('an empty variable counts as not set', () => {
  expect(loadConfig(schema, { ...complete, LOG_LEVEL: '' }).LOG_LEVEL).toBe('info');
  expect(() => loadConfig(schema, { ...complete, REDIS_URL: '' })).toThrow('REDIS_URL is not set');
});

test('the error names every wrong variable and what to set', () => {
  const env = { ...complete, REDIS_URL: undefined, ADMIN_PORT: '65536', EXAMPLE: 'yes' };
  let message = '';
  try {
    loadConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) message = error.message;
  }
  expect(message.split('\n')).toEqual([
    'The configuration has missing or invalid variables:',
    '  ADMIN_PORT is not valid: the port of /live, /ready and /metrics; 0 chooses a free port',
    '  EXAMPLE is not valid: 1 for yes, 0 for no',
    '  REDIS_URL is not set: the URL of Redis: `redis://host:port`, `redis+sentinel://host:port,host:port/master` or `redis+cluster://host:port,host:port`; with TLS, `rediss` instead of `redis`',
  ]);
});

test('an error never repeats a value, which may be a secret', () => {
  const env = { ...complete, SVC_MASTER_KEY: 'k1:tooshort', DATABASE_URL: 'hunter2' };
  expect(() => loadConfig(schema, env)).not.toThrow(/tooshort|hunter2/);
  expect(() => loadConfig(schema, env)).toThrow(ConfigError);
});

test('several master keys are valid, and a malformed one is not', () => {
  const keys = `${complete.SVC_MASTER_KEY},k2:${Buffer.alloc(32, 2).toString('base64')}`;
  expect(loadConfig(schema, { ...complete, SVC_MASTER_KEY: keys }).SVC_MASTER_KEY).toBe(keys);
  const broken = { ...complete, SVC_MASTER_KEY: `${keys},k3` };
  expect(() => loadConfig(schema, broken)).toThrow('SVC_MASTER_KEY is not valid');
});

test('the master key can be read from a file, but not from two places', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-config-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'master-key');
  const { SVC_MASTER_KEY: key, ...rest } = complete;
  writeFileSync(file, `${key}\n`);
  expect(loadConfig(schema, { ...rest, SVC_MASTER_KEY_FILE: file }).SVC_MASTER_KEY).toBe(key);
  const both = { ...complete, SVC_MASTER_KEY_FILE: file };
  expect(() => loadConfig(schema, both)).toThrow('SVC_MASTER_KEY or SVC_MASTER_KEY_FILE, not both');
  const none = path.join(dir, 'none');
  const missing = { ...rest, SVC_MASTER_KEY_FILE: none };
  expect(() => loadConfig(schema, missing)).toThrow(`${none}, which cannot be read`);
  writeFileSync(file, 'k1:tooshort');
  const wrong = { ...rest, SVC_MASTER_KEY_FILE: file };
  expect(() => loadConfig(schema, wrong)).toThrow('SVC_MASTER_KEY is not valid');
});
