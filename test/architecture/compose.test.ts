import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { adminCliEntry, serviceEntry, type ServiceName, serviceNames } from '@svc/local';
import { loadConfig } from '@svc/runtime';
import { testMasterKey } from '@svc/testkit';
import { Ajv } from 'ajv';
import { expect, it, onTestFinished } from 'vitest';
import { interpolate, readCompose } from '../support/compose.ts';
import { serviceConfigs } from './service-configs.ts';

/** Checks docker-compose.yml without a container engine. */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const strings = { type: 'array', items: { type: 'string' } };

/**
 * A JSON Schema of docker-compose.yml. It refuses each member of a service that it does not list.
 */
const form = {
  type: 'object',
  required: ['services'],
  properties: {
    services: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['image'],
        additionalProperties: false,
        properties: {
          image: { type: 'string' },
          build: {
            type: 'object',
            additionalProperties: false,
            properties: { context: { type: 'string' }, dockerfile: { type: 'string' } },
          },
          restart: { enum: ['unless-stopped'] },
          stop_grace_period: { type: 'string', pattern: '^\\d+s$' },
          init: { type: 'boolean' },
          read_only: { type: 'boolean' },
          cap_drop: strings,
          security_opt: strings,
          profiles: strings,
          command: strings,
          entrypoint: strings,
          secrets: strings,
          ports: strings,
          volumes: strings,
          environment: { type: 'object', additionalProperties: { type: 'string' } },
          depends_on: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              required: ['condition'],
              additionalProperties: false,
              properties: {
                condition: { enum: ['service_healthy', 'service_completed_successfully'] },
              },
            },
          },
          healthcheck: {
            type: 'object',
            required: ['test'],
            additionalProperties: false,
            properties: {
              test: strings,
              interval: { type: 'string' },
              timeout: { type: 'string' },
              start_period: { type: 'string' },
              retries: { type: 'integer' },
            },
          },
        },
      },
    },
  },
};

const compose = readCompose();

/**
 * Returns the environment of a service in docker-compose.yml, with test passwords. A temporary
 * directory with a test key replaces `/run/secrets`.
 */
function environmentOf(name: ServiceName): Record<string, string> {
  const given = {
    POSTGRES_PASSWORD: 'secret',
    SVC_DATABASE_PASSWORD: 'secret',
    REDIS_PASSWORD: 'secret',
  };
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-compose-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(path.join(dir, 'master_key'), `${testMasterKey()}\n`);
  const { environment = {} } = compose.services[name] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => [
      variable,
      interpolate(value, given).replace('/run/secrets', dir),
    ]),
  );
}

it('has the form of a Compose file', () => {
  const ajv = new Ajv({ allErrors: true });
  ajv.validate(form, compose);
  expect(ajv.errors ?? []).toStrictEqual([]);
});

it('waits only for services that there are', () => {
  const awaited = Object.values(compose.services).flatMap(({ depends_on: on = {} }) =>
    Object.keys(on),
  );
  expect(awaited.filter((name) => compose.services[name] === undefined)).toStrictEqual([]);
});

it('builds its one image from a Dockerfile that is there', () => {
  const builds = Object.values(compose.services).flatMap(({ build }) => build?.dockerfile ?? []);
  expect(new Set(builds)).toStrictEqual(new Set(['infra/docker/Dockerfile']));
  expect(existsSync(path.join(checkoutDir, 'infra/docker/Dockerfile'))).toBe(true);
});

it.each(serviceNames)('%s is the process that the tests run', (name) => {
  const [file = ''] = compose.services[name]?.command ?? [];
  expect(path.join(checkoutDir, file)).toBe(serviceEntry(name));
  expect(existsSync(serviceEntry(name))).toBe(true);
});

it('migrates and administers with the CLI that the tests run', () => {
  const [file = '', ...words] = compose.services['migrate']?.command ?? [];
  expect(path.join(checkoutDir, file)).toBe(adminCliEntry);
  expect(words).toStrictEqual(['migrate']);
  const [, tool = ''] = compose.services['svc']?.entrypoint ?? [];
  expect(path.join(checkoutDir, tool)).toBe(adminCliEntry);
});

it.each(serviceNames)(
  '%s accepts the environment that it is given, every variable of it',
  (name) => {
    const environment = environmentOf(name);
    const schema = serviceConfigs[name];
    const unknown = Object.keys(environment).filter((variable) => !(variable in schema.properties));
    expect(unknown).toStrictEqual([]);
    const isPublic = 'BIND_HOST' in schema.properties;
    expect(loadConfig(schema, environment)).toMatchObject({
      SVC_MASTER_KEY: testMasterKey(),
      ADMIN_PORT: 9090,
      ...(isPublic ? { BIND_HOST: '0.0.0.0' } : {}),
    });
  },
);

it.each(serviceNames)('%s is asked for its health where it listens for that', (name) => {
  const { ADMIN_HOST, ADMIN_PORT } = loadConfig(serviceConfigs[name], environmentOf(name));
  const [, , , script = ''] = compose.services[name]?.healthcheck?.test ?? [];
  expect(ADMIN_HOST).toBe('127.0.0.1');
  expect(script).toContain(`http://${String(ADMIN_HOST)}:${String(ADMIN_PORT)}/ready`);
});

it('only the migration is given the owner of the database', () => {
  const owners = Object.entries(compose.services)
    .filter(([, { environment = {} }]) => JSON.stringify(environment).includes('POSTGRES_PASSWORD'))
    .map(([name]) => name);
  expect(owners).toStrictEqual(['postgres', 'migrate']);
  const { MIGRATION_DATABASE_URL = '', DATABASE_URL = '' } =
    compose.services['migrate']?.environment ?? {};
  expect(MIGRATION_DATABASE_URL).toContain('//postgres:');
  expect(DATABASE_URL).toContain('//svc:');
});

it('Redis wants a password, which is in no command line', async () => {
  const { command = [], environment = {} } = compose.services['redis'] ?? {};
  const password = 'of-the-test';
  expect(environment['REDISCLI_AUTH']).toContain('REDIS_PASSWORD');
  const [, , script = ''] = command;
  // The script runs in a shell, as in the container, but `cat` replaces redis-server. `cat` prints
  // the configuration that redis-server would read.
  const printed = script
    .replaceAll('$$', '$')
    .replace('exec docker-entrypoint.sh redis-server -', 'exec cat');
  const { stdout } = await promisify(execFile)('sh', ['-c', printed], {
    env: { PATH: process.env['PATH'], REDISCLI_AUTH: password },
  });
  expect(stdout.split('\n')).toContain(`requirepass ${password}`);
  expect(stdout).toContain('appendonly yes');
});

function published(env: Readonly<Record<string, string>>): unknown {
  return Object.fromEntries(
    Object.entries(compose.services).flatMap(([name, { ports }]) =>
      ports === undefined ? [] : [[name, ports.map((port) => interpolate(port, env))]],
    ),
  );
}

it('publishes only gateway and node link, and only on loopback by default', () => {
  expect(published({})).toStrictEqual({
    gateway: ['127.0.0.1:8080:8080'],
    dispatcher: ['127.0.0.1:8081:8081'],
  });
  expect(published({ PUBLISH_HOST: '0.0.0.0', GATEWAY_PORT: '80' })).toMatchObject({
    gateway: ['0.0.0.0:80:8080'],
  });
});

it('does not start without a master key and its own password', () => {
  const { environment = {}, secrets = [] } = compose.services['gateway'] ?? {};
  expect(secrets.map((name) => compose.secrets[name])).toStrictEqual([
    { file: '${SVC_MASTER_KEY_FILE:?set it in .env}' },
  ]);
  expect(() => interpolate(environment['DATABASE_URL'] ?? '', {})).toThrow('set it in .env');
  expect(() => interpolate(environment['REDIS_URL'] ?? '', {})).toThrow('set it in .env');
});
