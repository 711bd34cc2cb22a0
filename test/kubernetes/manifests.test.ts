import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { adminCliEntry, serviceEntry, type ServiceName, serviceNames } from '@svc/local';
import { loadConfig, metricCatalogue } from '@svc/runtime';
import { createTestDatabase, testMasterKey } from '@svc/testkit';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import {
  dispatcherConfig,
  assertConsistent as assertDispatcher,
} from '../../services/dispatcher/src/config.ts';
import {
  gatewayConfig,
  assertConsistent as assertGateway,
} from '../../services/gateway/src/config.ts';
import { serviceConfigs } from '../architecture/service-configs.ts';
import {
  containerOf,
  environmentOf,
  named,
  ofKind,
  type Scaled,
  type Workload,
} from './deployments.ts';
import {
  kubernetesDir,
  manifestsIn,
  overlays,
  readManifests,
  renderedFile,
  withHeader,
} from './rendered.ts';
import { schemaComplaint } from './validators.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const production = readManifests('production');
const all = overlays.flatMap((overlay) => readManifests(overlay));
const compose: {
  services: Record<string, { command: string[]; environment: Record<string, string> }>;
} = parse(readFileSync(path.join(checkoutDir, 'docker-compose.yml'), 'utf8'), { merge: true });

function deployment(name: ServiceName): Workload {
  return named(ofKind<Workload>(production, 'Deployment'), name);
}

function environment(name: ServiceName): Record<string, string> {
  const made = environmentOf(production, containerOf(deployment(name)));
  onTestFinished(() => rmSync(made.dir, { recursive: true, force: true }));
  return made.environment;
}

test.each(overlays)('%s was built from the present sources, and nobody edited it', (overlay) => {
  const text = readFileSync(renderedFile(overlay), 'utf8');
  expect(text === withHeader(manifestsIn(text)), 'run `pnpm manifests`').toBe(true);
});

test('every manifest has the form that the schema of its kind wants', () => {
  expect(all.flatMap((manifest) => schemaComplaint(manifest) ?? [])).toEqual([]);
});

test('a manifest with a value of the wrong type is refused', () => {
  const broken = structuredClone(named(ofKind<Scaled>(production, 'ScaledObject'), 'gateway'));
  Object.assign(broken, { spec: { ...Object(broken).spec, maxReplicaCount: 'ten' } });
  expect(schemaComplaint(broken)).toContain('must be integer');
});

test.each(serviceNames)('%s runs the file that compose runs', (name) => {
  const { args } = containerOf(deployment(name));
  expect(args).toEqual(compose.services[name]?.command);
  expect(path.join(checkoutDir, args[0] ?? '')).toBe(serviceEntry(name));
});

test('the job migrates with the command that compose runs, as the owner', () => {
  const job = named(ofKind<Workload>(production, 'Job'), 'migrate');
  const { args, env } = containerOf(job);
  expect(args).toEqual(compose.services['migrate']?.command);
  expect(path.join(checkoutDir, args[0] ?? '')).toBe(adminCliEntry);
  const owned = all.filter((one) => JSON.stringify(one).includes('MIGRATION_DATABASE_URL'));
  expect(new Set(owned.map(({ kind }) => kind))).toEqual(new Set(['Job']));
  expect(env.map(({ name }) => name)).toContain('MIGRATION_DATABASE_URL');
});

test.each(serviceNames)('%s accepts every variable that it gets, and misses none', (name) => {
  const given = environment(name);
  const schema = serviceConfigs[name];
  expect(Object.keys(given).filter((variable) => !(variable in schema.properties))).toEqual([]);
  expect(loadConfig(schema, given)).toMatchObject({
    SVC_ENVIRONMENT: 'production',
    SVC_MASTER_KEY: testMasterKey(),
    ADMIN_HOST: '0.0.0.0',
  });
});

test('gateway and dispatcher get what production demands', () => {
  expect(() => assertGateway(loadConfig(gatewayConfig, environment('gateway')))).not.toThrow();
  const config = loadConfig(dispatcherConfig, environment('dispatcher'));
  expect(() => assertDispatcher(config)).not.toThrow();
});

test.each(serviceNames)('%s has a variable for each one that compose gives it', (name) => {
  const given = environment(name);
  const missing = Object.keys(compose.services[name]?.environment ?? {}).filter(
    (variable) => !(variable in given),
  );
  expect(missing).toEqual([]);
});

test.each(serviceNames)(
  '%s is asked for its health where it listens, and drains in time',
  (name) => {
    const container = containerOf(deployment(name));
    const given = environment(name);
    const portOf = (wanted: string) =>
      container.ports.find((one) => one.name === wanted)?.containerPort;
    expect(`${portOf('admin')}`).toBe(given['ADMIN_PORT']);
    expect(container.livenessProbe.httpGet).toEqual({ path: '/live', port: 'admin' });
    expect(container.startupProbe.httpGet).toEqual({ path: '/live', port: 'admin' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'admin' });
    const open: Partial<Record<ServiceName, readonly [port: string, variable: string]>> = {
      gateway: ['api', 'GATEWAY_PORT'],
      dispatcher: ['node-link', 'NODE_LINK_PORT'],
    };
    const [port, variable] = open[name] ?? [];
    expect(`${portOf(port ?? 'admin')}`).toBe(given[variable ?? 'ADMIN_PORT']);
    const { terminationGracePeriodSeconds: graceSeconds } = deployment(name).spec.template.spec;
    const preStopSeconds = container.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(graceSeconds).toBeGreaterThan(preStopSeconds + drainSeconds);
  },
);
const drainSeconds = 10;

test('no manifest contains a secret, and each secret is referred to by name', () => {
  expect(all.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  const literal = [...ofKind<Workload>(all, 'Deployment'), ...ofKind<Workload>(all, 'Job')]
    .flatMap((workload) => containerOf(workload).env)
    .filter(({ name, value }) => /URL|KEY$|SECRET/.test(name) && value !== undefined);
  expect(literal).toEqual([]);
});

interface EgressRule {
  readonly to?: readonly { readonly ipBlock?: { readonly cidr: string } }[];
}

function egressRules(manifests: typeof all): { name: string; rule: EgressRule }[] {
  return ofKind(manifests, 'NetworkPolicy').flatMap((policy) => {
    const rules: EgressRule[] = Object(policy).spec.egress ?? [];
    return rules.map((rule) => ({ name: policy.metadata.name, rule }));
  });
}

const privateNetwork = /^(10\.|100\.64\.|172\.16\.|192\.168\.|fc00:)/;

function isOutward({ to }: EgressRule): boolean {
  return (
    to === undefined ||
    to.some(({ ipBlock }) => ipBlock !== undefined && !privateNetwork.test(ipBlock.cidr))
  );
}

/** The names of the policies that allow connections to public addresses. */
function outward(manifests: typeof all): string[] {
  const names = egressRules(manifests).flatMap(({ name, rule }) => (isOutward(rule) ? name : []));
  return [...new Set(names)].toSorted();
}

test('only webhooks, and settlement with the Solana rail, may connect outside', () => {
  expect(outward(production)).toEqual(['webhooks']);
  expect(outward(readManifests('production-solana'))).toEqual(['solana-rpc', 'webhooks']);
});

test('each policy names the destinations that it allows', () => {
  const nameless = egressRules(all).filter(({ rule }) => (rule.to ?? []).length === 0);
  expect(nameless).toEqual([]);
});

test('only gateway and dispatcher accept connections from everywhere', () => {
  const open = ofKind(production, 'NetworkPolicy').flatMap((policy) => {
    const ingress: { from?: object[]; ports: { port: number }[] }[] =
      Object(policy).spec.ingress ?? [];
    return ingress
      .filter(({ from }) => from === undefined)
      .map(({ ports }) => [policy.metadata.name, ports[0]?.port]);
  });
  expect(open).toEqual([
    ['dispatcher', 8081],
    ['gateway', 8080],
  ]);
});

const scaled = ofKind<Scaled>(production, 'ScaledObject');

test('each metric that decides about replicas is in the catalogue', () => {
  const exposed = new Set(Object.keys(metricCatalogue).flatMap((name) => [name, `${name}_sum`]));
  const asked = scaled.flatMap(({ spec }) =>
    spec.triggers.flatMap(({ type, metadata: { query = '' } }) =>
      type === 'prometheus' ? (query.match(/svc_[a-z_]+/g) ?? []) : [],
    ),
  );
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((name) => !exposed.has(name))).toEqual([]);
});

test('each query that decides about replicas gives one number to a role that may read little else', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  onTestFinished(() => owner.end());
  await owner.query('BEGIN; CREATE ROLE svc_scaling');
  await owner.query(readFileSync(path.join(kubernetesDir, 'scaling-role.sql'), 'utf8'));
  await owner.query('SET LOCAL ROLE svc_scaling');
  const queries = scaled.flatMap(({ spec }) =>
    spec.triggers.flatMap(({ type, metadata }) =>
      type === 'postgresql' ? [metadata['query'] ?? ''] : [],
    ),
  );
  expect(queries).toHaveLength(5);
  for (const query of queries) {
    const { rows } = await owner.query({ text: query, rowMode: 'array' });
    expect({ query, rows: rows.map((row) => Object.values(row).map(Number)) }).toEqual({
      query,
      rows: [[0]],
    });
  }
  await expect(owner.query('SELECT payload_sealed FROM submissions')).rejects.toThrow(
    'permission denied',
  );
  await owner.query('ROLLBACK');
});

test('links are handed over before the next dispatcher may leave', () => {
  const { scaleDown } = named(scaled, 'dispatcher').spec.advanced.horizontalPodAutoscalerConfig
    .behavior;
  const { terminationGracePeriodSeconds: graceSeconds } =
    deployment('dispatcher').spec.template.spec;
  // A node waits at most 30 s before each attempt to connect. A dispatcher enters its links into
  // the fleet registry again about every 30 s.
  const handOverSeconds = graceSeconds + 30 + 30;
  expect(scaleDown.policies).toHaveLength(1);
  const [policy] = scaleDown.policies;
  expect(policy?.value).toBe(1);
  expect(policy?.periodSeconds).toBeGreaterThan(handOverSeconds);
});

test('Postgres accepts the connections of all replicas together', () => {
  const { max_connections: connections } = Object(
    named(ofKind(production, 'Cluster'), 'svc-postgres'),
  ).spec.postgresql.parameters;
  const pool = Number(environment('gateway')['DATABASE_POOL_MAX']);
  const surge = 1;
  const processes = scaled.reduce((sum, { spec }) => sum + spec.maxReplicaCount + surge, 0);
  expect(Number(connections)).toBeGreaterThanOrEqual(processes * pool + 6);
});
