import { startTestRedis, type TestRedis, waitUntil } from '@svc/testkit';
import { Redis } from 'ioredis';

/**
 * A Redis cluster of one server. A command fails if its key belongs to a hash slot that the server
 * does not own.
 */
export interface TestCluster {
  readonly serverUrl: string;
  readonly clusterUrl: string;
  /** An ordinary client of the server, not a cluster client. */
  readonly direct: Redis;
  readonly server: TestRedis;
  close(): Promise<void>;
}

const boundMs = 20_000;

/**
 * Starts a Redis cluster of one server, which owns only the slots of these keys. The start takes
 * about two seconds.
 */
export async function startTestCluster(keys: readonly string[]): Promise<TestCluster> {
  const server = await startTestRedis({ isClustered: true });
  const direct = new Redis(server.redisUrl);
  for (const key of keys) await direct.cluster('ADDSLOTS', await direct.cluster('KEYSLOT', key));
  const isServing = async () => (await direct.cluster('INFO')).includes('cluster_state:ok');
  if (!(await waitUntil(isServing, { timeoutMs: boundMs }))) throw new Error('no cluster');
  return {
    serverUrl: server.redisUrl,
    clusterUrl: server.redisUrl.replace(/^redis:/, 'redis+cluster:'),
    direct,
    server,
    async close() {
      direct.disconnect();
      await server.close();
    },
  };
}
