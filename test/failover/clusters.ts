import type { PostgresPair } from './postgres-pair.ts';
import { openPostgresPair } from './postgres-pair.ts';
import { openRedisCluster, type RedisCluster } from './redis-cluster.ts';
import { openRedisWithSentinel, type RedisWithSentinel } from './redis-sentinel.ts';
import type { Cluster } from './trial.ts';

/** The clusters of `pnpm failover`, by the name that `--only` takes. */
export const clusters: Readonly<Record<string, () => Cluster>> = {
  postgres: postgresCluster,
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
