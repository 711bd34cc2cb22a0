import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger, loadConfig, newId, systemClock } from '@svc/runtime';
import { selfSigned } from '@svc/testkit';
import { afterAll, expect, test } from 'vitest';
import { assertConsistent, gatewayConfig, tlsOf } from '../config.ts';
import { startHttpServer } from './http-server.ts';
import { createRequestLines } from './request-lines.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'svc-tls-'));
afterAll(() => rmSync(directory, { recursive: true }));
const certFile = path.join(directory, 'cert.pem');
const keyFile = path.join(directory, 'key.pem');

const bare = {
  SVC_ENVIRONMENT: 'sandbox',
  DATABASE_URL: 'postgresql://x',
  REDIS_URL: 'redis://x',
  SVC_MASTER_KEY: `a:${Buffer.alloc(32).toString('base64')}`,
};
const configOf = (env: NodeJS.ProcessEnv) => loadConfig(gatewayConfig, { ...bare, ...env });

test('with a certificate and key the gateway serves TLS itself', async () => {
  const { cert, key } = selfSigned();
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const tls = tlsOf(configOf({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }));
  const logger = createLogger({ service: 'gateway', level: 'silent' });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    listener: (_request, response) => response.end('secret'),
    newId,
    logger,
    requestLines: createRequestLines({ perSecondMax: 10, clock: systemClock, logger }),
    tls,
  });
  const text = await new Promise<string>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: server.port,
      servername: 'localhost',
      ca: cert,
      agent: false,
    };
    request(options, (response) => response.once('data', (chunk) => resolve(String(chunk))))
      .once('error', reject)
      .end();
  });
  expect(text).toBe('secret');
  await server.close();
});

test('TLS needs both files, and both must be readable', () => {
  expect(tlsOf(configOf({}))).toBeNull();
  expect(() => assertConsistent(configOf({ TLS_CERT_FILE: certFile }))).toThrow('both');
  const missing = path.join(directory, 'missing.pem');
  const config = configOf({ TLS_CERT_FILE: missing, TLS_KEY_FILE: missing });
  expect(() => tlsOf(config)).toThrow('cannot be read');
});

test('production refuses to serve plain HTTP unless a proxy terminates TLS', () => {
  const production = { SVC_ENVIRONMENT: 'production' };
  expect(() => assertConsistent(configOf(production))).toThrow(
    'In production the tenant API needs TLS. Set TLS_CERT_FILE and TLS_KEY_FILE, or set TRUST_PROXY',
  );
  expect(() =>
    assertConsistent(configOf({ ...production, TRUST_PROXY: '10.0.0.0/8' })),
  ).not.toThrow();
  const files = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  expect(() => assertConsistent(configOf({ ...production, ...files }))).not.toThrow();
});

test('trusted proxies are addresses, blocks or names of blocks, and never every address', () => {
  for (const proxies of ['loopback', '10.0.0.1, 10.1.0.0/16', 'uniquelocal,2001:db8::/32']) {
    expect(() => assertConsistent(configOf({ TRUST_PROXY: proxies }))).not.toThrow();
  }
  for (const proxies of ['true', '1', '10.0.0.0/33', '0.0.0.0/0', 'proxy.example.com', 'a,,b']) {
    expect(() => assertConsistent(configOf({ TRUST_PROXY: proxies }))).toThrow('TRUST_PROXY');
  }
});
