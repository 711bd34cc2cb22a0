import path from 'node:path';
import { clusterUrl, newPasswords, preparePostgres } from '../failover/postgres-node.ts';
import { prepareRedis, serverLines } from '../failover/redis-node.ts';
import type { PostgresUnderTest } from '../faults/world/postgres-server.ts';
import type { RedisUnderTest } from '../faults/world/redis-server.ts';
import type { Servers } from '../faults/world/types.ts';
import { hostOf, inside, type Layout, type NetworkHost } from './layout.ts';

export function serversOf(layout: Layout): Servers {
  return {
    openPostgres: (dir) => openPostgres(path.join(dir, 'server'), hostOf(layout, 'postgres')),
    openRedis: (dir) => openRedis(path.join(dir, 'server'), hostOf(layout, 'redis')),
  };
}

async function openPostgres(dir: string, host: NetworkHost): Promise<PostgresUnderTest> {
  const passwords = newPasswords();
  const where = { host: host.address, prefix: inside(host) };
  const node = await preparePostgres({ name: 'postgres', dir, passwords, ...where });
  await node.start();
  await node.query(`CREATE ROLE svc LOGIN PASSWORD '${passwords.service}'`);
  const url = clusterUrl([node], passwords);
  return {
    port: () => node.port,
    pid: () => node.pid(),
    isUp: () => node.isUp(),
    url: () => node.url(),
    serviceUrl: () => url,
    clusterUrl: () => url,
    stopImmediately: () => node.kill(),
    start: () => node.start(),
    stop: () => node.stop(),
  };
}

async function openRedis(dir: string, host: NetworkHost): Promise<RedisUnderTest> {
  const where = { host: host.address, prefix: inside(host) };
  const node = await prepareRedis({ name: 'redis', dir, ...where });
  await node.start(serverLines);
  return {
    port: () => node.port,
    pid: () => node.pid(),
    isUp: () => node.isUp(),
    clusterUrl: () => `redis://${host.address}:${node.port}`,
    kill: () => node.kill(),
    start: () => node.start(serverLines),
    command: (line) => node.command(line),
    stop: () => node.stop(),
  };
}
