import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { adminCliEntry, serviceEntry, serviceNames } from '@svc/local';
import { loadConfig } from '@svc/runtime';
import { testMasterKey } from '@svc/testkit';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { serviceConfigs } from './service-configs.ts';

/**
 * docker-compose.yml, without an engine to run it: its form, and that its containers are the
 * processes that the tests run, configured as their own schemas want it.
 */

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const strings = { type: 'array', items: { type: 'string' } };

/** The part of the Compose Specification that the file makes use of. */
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
          profiles: strings,
          command: strings,
          entrypoint: strings,
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

const compose: ComposeFile = parse(
  readFileSync(path.join(checkoutDir, 'docker-compose.yml'), 'utf8'),
  { merge: true },
);

/** `${NAME:-default}` and `${NAME:?message}` as Compose fills them in. */
function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$\{(\w+):([-?])([^}]*)\}/g,
    (_, name: string, kind: string, rest: string) => {
      const value = env[name] ?? (kind === '-' ? rest : undefined);
      if (value === undefined) throw new Error(`${name}: ${rest}`);
      return value;
    },
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
    const given = { POSTGRES_PASSWORD: 'secret', SVC_MASTER_KEY: testMasterKey() };
    const environment = Object.fromEntries(
      Object.entries(compose.services[name]?.environment ?? {}).map(([variable, value]) => [
        variable,
        interpolate(value, given),
      ]),
    );
    const schema = serviceConfigs[name];
    const unknown = Object.keys(environment).filter((variable) => !(variable in schema.properties));
    expect(unknown).toStrictEqual([]);
    expect(loadConfig(schema, environment)).toMatchObject({
      BIND_HOST: '0.0.0.0',
      ADMIN_PORT: 9090,
    });
  },
);

it('refuses to come up without a master key and a password of its own', () => {
  const { environment = {} } = compose.services['gateway'] ?? {};
  expect(() => interpolate(environment['SVC_MASTER_KEY'] ?? '', {})).toThrow('set it in .env');
  expect(() => interpolate(environment['DATABASE_URL'] ?? '', {})).toThrow('set it in .env');
});
