import { openPostgres, type PostgresUnderTest } from '../faults/world/postgres-server.ts';
import type { PostgresPair } from './postgres-pair.ts';
import { openPostgresPair } from './postgres-pair.ts';
import { acceptWrites, refuseWrites, requireNotReady } from './read-only.ts';
import { openRedisCluster, type RedisCluster } from './redis-cluster.ts';
import { openRedisWithSentinel, type RedisWithSentinel } from './redis-sentinel.ts';
import type { Cluster } from './trial.ts';

/** The clusters of `pnpm failover`, by the name that `--only` takes. */
export const clusters: Readonly<Record<string, () => Cluster>> = {
  postgres: postgresCluster,
  'read-only': readOnlyPostgres,
  sentinel: sentinelCluster,
  cluster: redisCluster,
};

function postgresCluster(): Cluster {
  const opened: PostgresPair[] = [];
  return {
    name: 'Postgres primary killed, synchronous standby promoted',
    servers: { openPostgres: keep(opened, openPostgresPair) },
    failOver: async () => only(opened).failOver(),
    restore: async () => only(opened).restoreStandby(),
  };
}

function readOnlyPostgres(): Cluster {
  const opened: PostgresUnderTest[] = [];
  let times = 0;
  return {
    name: 'Postgres read-only for 8 s',
    servers: { openPostgres: keep(opened, openPostgres) },
    lastsMs: 8_000,
    recoveryMsMax: 5_000,
    recoversAfter: 'restore',
    async failOver(world) {
      times += 1;
      await refuseWrites(only(opened).url(), times % 2 === 1 ? 'new sessions' : 'all sessions');
      await requireNotReady(world);
    },
    restore: async () => acceptWrites(only(opened).url()),
  };
}

function sentinelCluster(): Cluster {
  const opened: RedisWithSentinel[] = [];
  return {
    name: 'Redis master killed, replica promoted by Sentinel',
    servers: { openRedis: keep(opened, openRedisWithSentinel) },
    failOver: async () => only(opened).failOver(),
    restore: async () => only(opened).restoreReplica(),
  };
}

function redisCluster(): Cluster {
  const opened: RedisCluster[] = [];
  return {
    name: 'Redis Cluster: master of the queues killed, replica promoted',
    servers: { openRedis: keep(opened, openRedisCluster) },
    failOver: async () => only(opened).failOver(),
    restore: async () => only(opened).restoreReplica(),
  };
}

function keep<Opened>(opened: Opened[], open: (dir: string) => Promise<Opened>) {
  return async (dir: string): Promise<Opened> => {
    const one = await open(dir);
    opened.push(one);
    return one;
  };
}

function only<Opened>([one]: readonly Opened[]): Opened {
  if (one === undefined) throw new Error('the cluster is not open');
  return one;
}
