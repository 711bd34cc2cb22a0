import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createNode, samePorts, type ServiceName, serviceEntry } from '@svc/local';
import { collecting, collectPreload } from '../soak/collected.ts';
import { startControlled } from './controlled-process.ts';
import { throughProxy } from './postgres-server.ts';
import type { NodeUnderTest, ServiceUnderTest, World, WorldOptions } from './types.ts';

const clockPreload = path.join(import.meta.dirname, 'clock-preload.ts');
const bugPreload = path.join(import.meta.dirname, '../injected-bugs/bug-preload.ts');
const nodeEntry = path.join(import.meta.dirname, '../node/main.ts');

/** Modules that Node loads before the process's own code. */
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
  return {
    NODE_OPTIONS: files.map(({ href }) => `--import=${href}`).join(' '),
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
 * A service process with its own wires to Postgres and to Redis. A gateway also has a wire to
 * tenants.
 */
export async function startService(
  world: World,
  service: ServiceName,
  index: number,
  options: WorldOptions,
): Promise<ServiceUnderTest> {
  const name = `${service} ${index}`;
  const { postgres, redis, env } = world;
  const toPostgres = await world.wire(`${name} - Postgres`, () => ({ port: postgres.port() }));
  const toRedis = await world.wire(`${name} - Redis`, () => ({ port: redis.port() }));
  const process = await startControlled({
    ...placeOf(world, name),
    entry: (options.entryOf ?? serviceEntry)(service),
    env: {
      ...env,
      ...preloads(world, name, options),
      DATABASE_URL: postgres.clusterUrl?.() ?? throughProxy(postgres.serviceUrl(), toPostgres.port),
      REDIS_URL: redis.clusterUrl?.() ?? `redis://127.0.0.1:${toRedis.port}`,
    },
    envAgain: (first) => samePorts(service, first),
  });
  if (service === 'gateway') {
    const wire = await world.wire(`tenants - ${name}`, () => portOf(process));
    world.gatewayUrls.push(`http://127.0.0.1:${wire.port}`);
  }
  return { service, index, process };
}

function portOf({ ready }: { ready: { port?: number } }): { port: number } | undefined {
  return ready.port === undefined ? undefined : { port: ready.port };
}

/** A node whose wire leads to one dispatcher after another, as through a load balancer. */
export async function startNode(
  world: World,
  services: readonly ServiceUnderTest[],
  index: number,
  options: WorldOptions,
): Promise<NodeUnderTest> {
  const name = `node ${index}`;
  const dispatchers = services.filter(({ service }) => service === 'dispatcher');
  let turn = index;
  const wire = await world.wire(`${name} - dispatchers`, () => {
    const up = dispatchers.filter(({ process: one }) => one.isUp());
    turn += 1;
    const next = up[turn % Math.max(1, up.length)];
    return next === undefined ? undefined : portOf(next.process);
  });
  const { slotsPerNode } = options.size;
  const { nodeId, nodeSecret } = await createNode(name, world.env, slotsPerNode);
  const logFile = path.join(world.dir, 'nodes', `${index}.log`);
  const process = await startControlled({
    ...placeOf(world, name),
    entry: nodeEntry,
    env: {
      PATH: world.env['PATH'],
      HOME: world.env['HOME'],
      ...preloads(world, name, options),
      SVC_NODE_LINK: `ws://127.0.0.1:${wire.port}`,
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
