import { ConfigError, createLogger, loadConfig } from '@svc/runtime';
import { describe, expect, test } from 'vitest';
import { assertConsistent, dispatcherConfig, tlsOf } from './config.ts';
import { run } from './run.ts';

function configOf(env: Readonly<Record<string, string>>) {
  return loadConfig(dispatcherConfig, {
    SVC_ENVIRONMENT: 'production',
    DATABASE_URL: 'postgresql://127.0.0.1/x',
    REDIS_URL: 'redis://127.0.0.1',
    SVC_MASTER_KEY: `k:${Buffer.alloc(32).toString('base64')}`,
    ...env,
  });
}

describe('production', () => {
  test('refuses plain ws unless a proxy terminates TLS', () => {
    expect(() => assertConsistent(configOf({}))).toThrow('NODE_LINK_TLS_CERT_FILE');
    expect(() => assertConsistent(configOf({ TRUST_PROXY: '10.0.0.1' }))).not.toThrow();
  });

  test('stops a dispatcher whose settings contradict each other before it opens anything', async () => {
    const logger = createLogger({ service: 'dispatcher', level: 'silent' });
    await expect(run(configOf({}), { logger })).rejects.toThrow('NODE_LINK_TLS_CERT_FILE');
  });

  test('refuses simulated nodes', () => {
    const env = { TRUST_PROXY: '10.0.0.1', SVC_SIMULATED_NODES: '2' };
    expect(() => assertConsistent(configOf(env))).toThrow('SVC_SIMULATED_NODES');
    expect(() => assertConsistent(configOf({ ...env, SVC_ENVIRONMENT: 'sandbox' }))).not.toThrow();
  });
});

describe('the caps of usage', () => {
  test('are fixed by the contract in production and can be multiplied in a sandbox', () => {
    const env = { TRUST_PROXY: '10.0.0.1', USAGE_CAP_FACTOR: '2' };
    expect(() => assertConsistent(configOf(env))).toThrow('USAGE_CAP_FACTOR');
    expect(() => assertConsistent(configOf({ ...env, SVC_ENVIRONMENT: 'sandbox' }))).not.toThrow();
    expect(() => assertConsistent(configOf({ ...env, USAGE_CAP_FACTOR: '1.0' }))).not.toThrow();
    expect(() => configOf({ ...env, USAGE_CAP_FACTOR: '-1' })).toThrow(ConfigError);
  });
});

describe('TLS', () => {
  test('needs both files', () => {
    const env = { SVC_ENVIRONMENT: 'sandbox', NODE_LINK_TLS_CERT_FILE: '/cert.pem' };
    expect(() => assertConsistent(configOf(env))).toThrow('both');
  });

  test('is refused if its files cannot be read', () => {
    const config = configOf({ NODE_LINK_TLS_CERT_FILE: '/no', NODE_LINK_TLS_KEY_FILE: '/no' });
    expect(() => tlsOf(config)).toThrow(ConfigError);
    expect(tlsOf(configOf({}))).toBeNull();
  });
});
