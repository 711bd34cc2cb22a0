import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceNames, svc } from '@svc/local';
import { Pool } from 'pg';
import { forgetful } from '../../history/recorder.ts';
import { recordedHttp } from '../history/record.ts';
import { createHttp } from '../load/http.ts';
import { Seen } from '../load/seen.ts';
import { openDisk } from './disk.ts';
import { oneHost } from './hosts.ts';
import { openPostgres, type PostgresUnderTest, throughProxy } from './postgres-server.ts';
import { openRedis } from './redis-server.ts';
import { startNode, startService } from './stack.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import type { World, WorldOptions } from './types.ts';

const reconcileIntervalMs = 250;
/**
 * The delays before the seven retries of a webhook. Together they take about a minute, so a run can
 * wait for the last retry.
 */
const backoffSeconds = '1,1,2,4,8,15,30';

export async function startWorld(options: WorldOptions): Promise<World> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-faults-'));
  const disks = {
    postgres: openDisk(path.join(dir, 'postgres')),
    redis: openDisk(path.join(dir, 'redis')),
  };
  const closers: (() => Promise<void> | void)[] = [
    () => rmSync(dir, { recursive: true, force: true }),
    () => disks.postgres.close(),
    () => disks.redis.close(),
  ];
  const close = async (): Promise<void> => {
    for (let next = closers.pop(); next !== undefined; next = closers.pop()) await next();
  };
  try {
    for (const part of ['logs', 'clocks', 'nodes', 'memory']) mkdirSync(path.join(dir, part));
    const postgres = await (options.servers?.openPostgres ?? openPostgres)(disks.postgres.dir);
    closers.push(() => postgres.stop());
    const redis = await (options.servers?.openRedis ?? openRedis)(disks.redis.dir);
    closers.push(() => redis.stop());
    const env = environment(
      postgres.clusterUrl?.() ?? postgres.serviceUrl(),
      redis.clusterUrl?.() ?? `redis://127.0.0.1:${redis.port()}`,
    );
    await svc(['migrate'], { ...env, MIGRATION_DATABASE_URL: postgres.url() });
    const pool = await auditorsPool(postgres, closers);
    for (const sql of options.bug?.sql ?? []) await pool.query(sql);
    const recorder = options.recorder ?? forgetful;
    const http = recordedHttp(createHttp(), recorder);
    closers.push(() => http.close());
    const proxies = new Map<string, TcpProxy>();
    const world: World = {
      dir,
      postgres,
      redis,
      hosts: options.hosts ?? oneHost,
      disks,
      services: [],
      nodes: [],
      proxies,
      gatewayUrls: [],
      http,
      seen: new Seen(),
      recorder,
      env,
      pool,
      async openProxy(name, target, listensAt) {
        const proxy = await startTcpProxy(name, target, listensAt);
        proxies.set(name, proxy);
        closers.push(() => proxy.close());
        return proxy;
      },
      close,
    };
    await populate(world, options, closers);
    return world;
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The auditor's connections to Postgres. They go through a proxy that no fault strikes. The proxy
 * follows Postgres to each new address.
 */
async function auditorsPool(
  postgres: PostgresUnderTest,
  closers: (() => Promise<void> | void)[],
): Promise<Pool> {
  const auditors = await startTcpProxy('auditor - Postgres', () => {
    const { hostname: host, port } = new URL(postgres.url());
    return { host, port: Number(port) };
  });
  closers.push(() => auditors.close());
  const pool = new Pool({ connectionString: throughProxy(postgres.url(), auditors.port), max: 4 });
  pool.on('error', () => {});
  closers.push(() => pool.end());
  return pool;
}

async function populate(
  world: World,
  options: WorldOptions,
  closers: (() => Promise<void> | void)[],
): Promise<void> {
  const { size } = options;
  const starts = serviceNames.flatMap((service) =>
    Array.from({ length: size.counts[service] }, (_, index) =>
      startService(world, service, index, options),
    ),
  );
  const services = await Promise.all(starts);
  for (const one of services) closers.push(() => one.process.stop());
  const nodes = await Promise.all(
    Array.from({ length: size.nodes }, (_, index) => startNode(world, services, index, options)),
  );
  for (const one of nodes) closers.push(() => one.process.kill());
  Object.assign(world, { services, nodes });
}

function environment(databaseUrl: string, redisUrl: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];
  return {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SVC_MASTER_KEY: `faults:${randomBytes(32).toString('base64')}`,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
    WEBHOOK_BACKOFF_SECONDS: backoffSeconds,
    RECONCILE_INTERVAL_MS: `${reconcileIntervalMs}`,
    SIGNUP_PER_HOUR: '100000',
    SIGNUP_IN_FLIGHT_MAX: '100000',
    GATEWAY_PORT: '0',
    NODE_LINK_PORT: '0',
    ADMIN_PORT: '0',
  };
}
