import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createNode, samePorts, type ServiceName, serviceEntry } from '@svc/local';
import { collecting, collectPreload, youngGenerationLimit } from '../soak/collected.ts';
import { type ControlledProcess, startControlled } from './controlled-process.ts';
import { throughProxy } from './postgres-server.ts';
import type { NodeUnderTest, ServiceUnderTest, World, WorldOptions } from './types.ts';

const clockPreload = path.join(import.meta.dirname, 'clock-preload.ts');
const bugPreload = path.join(import.meta.dirname, '../injected-bugs/bug-preload.ts');
const nodeEntry = path.join(import.meta.dirname, '../node/main.ts');

function preloads(
  world: World,
  name: string,
  { bug, reportsMemory = false }: WorldOptions,
): NodeJS.ProcessEnv {
  const files = [
    pathToFileURL(clockPreload),
    ...(bug === undefined ? [] : [pathToFileURL(bugPreload)]),
    ...(reportsMemory ? [collectPreload] : []),
  ];
  const imports = files.map(({ href }) => `--import=${href}`);
  return {
    NODE_OPTIONS: [...imports, ...(reportsMemory ? [youngGenerationLimit] : [])].join(' '),
    ...(bug === undefined ? {} : { FAULTS_BUG: bug.name }),
    ...(reportsMemory ? collecting(world.dir, name) : {}),
  };
}

function placeOf(world: World, name: string) {
  const file = name.replaceAll(' ', '-');
  return {
    name,
    clockFile: path.join(world.dir, 'clocks', file),
    logFile: path.join(world.dir, 'logs', `${file}.log`),
  };
}

/**
 * Starts a service process, and opens its own proxies to Postgres and Redis. If Postgres or Redis
 * has a `clusterUrl`, the process connects to that URL without the proxy.
 */
export async function startService(
  world: World,
  service: ServiceName,
  index: number,
  options: WorldOptions,
): Promise<ServiceUnderTest> {
  const name = `${service} ${index}`;
  const { postgres, redis, env } = world;
  const toPostgres = await world.openProxy(`${name} - Postgres`, () => ({ port: postgres.port() }));
  const { address, prefix } = world.hosts.of(name);
  const toRedis = await world.openProxy(`${name} - Redis`, () => ({ port: redis.port() }));
  const process = await startControlled({
    ...placeOf(world, name),
    entry: (options.entryOf ?? serviceEntry)(service),
    prefix,
    env: {
      ...env,
      BIND_HOST: address,
      ADMIN_HOST: address,
      ...preloads(world, name, options),
      DATABASE_URL: postgres.clusterUrl?.() ?? throughProxy(postgres.serviceUrl(), toPostgres.port),
      REDIS_URL: redis.clusterUrl?.() ?? `redis://127.0.0.1:${toRedis.port}`,
    },
    envAgain: (first) => samePorts(service, first),
  });
  if (service === 'gateway') world.gatewayUrls.push(await gatewayUrl(world, process));
  return { service, index, process };
}

async function gatewayUrl(world: World, { name, ready }: ControlledProcess): Promise<string> {
  const { hosts } = world;
  if (hosts.direct !== undefined) return `http://${hosts.of(name).address}:${ready.port}`;
  const { port } = await world.openProxy(`tenants - ${name}`, () => portOf({ ready }));
  return `http://127.0.0.1:${port}`;
}

function portOf({ ready }: { ready: { port?: number } }): { port: number } | undefined {
  return ready.port === undefined ? undefined : { port: ready.port };
}

/**
 * Starts a node. Each of its connections goes to the next dispatcher that is up. With
 * `world.hosts.direct`, a connection may also go to a dispatcher that is down.
 */
export async function startNode(
  world: World,
  services: readonly ServiceUnderTest[],
  index: number,
  options: WorldOptions,
): Promise<NodeUnderTest> {
  const name = `node ${index}`;
  const dispatchers = services.filter(({ service }) => service === 'dispatcher');
  const linkPort = await dispatchersPort(world, name, dispatchers, index);
  const { slotsPerNode } = options.size;
  const { nodeId, nodeSecret } = await createNode(name, world.env, slotsPerNode);
  const logFile = path.join(world.dir, 'nodes', `${index}.log`);
  const process = await startControlled({
    ...placeOf(world, name),
    entry: nodeEntry,
    prefix: world.hosts.of(name).prefix,
    env: {
      PATH: world.env['PATH'],
      HOME: world.env['HOME'],
      ...preloads(world, name, options),
      SVC_NODE_LINK: `ws://127.0.0.1:${linkPort}`,
      SVC_NODE_ID: nodeId,
      SVC_NODE_SECRET: nodeSecret,
      SVC_NODE_SLOTS: `${slotsPerNode}`,
      SVC_NODE_STATE_DIR: path.join(world.dir, 'nodes', nodeId),
      FAULTS_NODE_LOG: logFile,
    },
    envAgain: () => ({}),
  });
  return { nodeId, process, logFile };
}

async function dispatchersPort(
  world: World,
  name: string,
  dispatchers: readonly ServiceUnderTest[],
  index: number,
): Promise<number> {
  const { hosts } = world;
  if (hosts.direct !== undefined) {
    const targets = dispatchers.map(({ process: { name: dispatcher, ready } }) => ({
      host: hosts.of(dispatcher).address,
      port: ready.port ?? 0,
    }));
    return hosts.direct.balance(name, targets);
  }
  let turn = index;
  const { port } = await world.openProxy(`${name} - dispatchers`, () => {
    const up = dispatchers.filter(({ process: one }) => one.isUp());
    turn += 1;
    const next = up[turn % Math.max(1, up.length)];
    return next === undefined ? undefined : portOf(next.process);
  });
  return port;
}
