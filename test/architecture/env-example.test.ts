import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { adminCliConfig } from '../../packages/admin-cli/src/configuration.ts';
import { serviceConfigs } from './service-configs.ts';

/** Compares .env.example with the configuration schemas of the services and of `svc`. */

const text = readFileSync(path.resolve(import.meta.dirname, '../../.env.example'), 'utf8');
const shown = new Map(
  [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);

const known = new Map<string, unknown>(
  [...Object.values(serviceConfigs), adminCliConfig].flatMap((schema) =>
    Object.entries(schema.properties),
  ),
);

/** An operator sets these variables, but only docker-compose.yml reads them. */
const composeOnly = [
  'POSTGRES_PASSWORD',
  'SVC_DATABASE_PASSWORD',
  'REDIS_PASSWORD',
  'PUBLISH_HOST',
];

function defaultOf(property: unknown): unknown {
  const isOne = typeof property === 'object' && property !== null && 'default' in property;
  return isOne ? property.default : undefined;
}

it('shows every variable that a service reads', () => {
  expect([...known.keys()].filter((name) => !shown.has(name))).toStrictEqual([]);
});

it('shows no variable that no service reads', () => {
  const readable = [...known.keys(), ...composeOnly];
  expect([...shown.keys()].filter((name) => !readable.includes(name))).toStrictEqual([]);
});

it('shows the defaults that the schemas have', () => {
  const defaults = [...known]
    .map(([name, property]) => [name, defaultOf(property)] as const)
    .filter(([, value]) => value !== undefined);
  const wrong = defaults.filter(([name, value]) => shown.get(name) !== String(value));
  expect(defaults.length).toBeGreaterThan(5);
  expect(wrong).toStrictEqual([]);
});
