import { createConnection, Socket } from 'node:net';
import { connect as connectEncrypted } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import { type ClusterNode, ownerOfSlot, parseClusterNodes, slotOf } from './cluster-nodes.ts';
import type { ClusterAddress, ServerAddress } from './redis-address.ts';

/** The longest time to connect to a server, and the longest wait for the answer to one command. */
const answerMsMax = 1_000;
const askedMax = 16;
const disconnectMsMax = 2_000;

/**
 * Asks all `servers` at once for the servers of the cluster (decision 46). Returns the answers so
 * far when most `servers` have answered, or each has answered or failed.
 */
export async function askCluster(
  cluster: ClusterAddress,
  servers: readonly ServerAddress[],
): Promise<ClusterNode[]> {
  const nodes: ClusterNode[] = [];
  let answers = 0;
  await new Promise<void>((resolve) => {
    const asked = servers.map(async (server) => {
      nodes.push(...(await nodesBy(cluster, server)));
      answers += 1;
      if (answers * 2 > servers.length) resolve();
    });
    void Promise.allSettled(asked).then(() => resolve());
  });
  return nodes;
}

async function nodesBy(cluster: ClusterAddress, server: ServerAddress): Promise<ClusterNode[]> {
  const text = await withServer(cluster, server, (redis) => redis.cluster('NODES'));
  return parseClusterNodes(String(text), server, cluster);
}

/**
 * Runs `work` on a short connection to one server. Throws if `work` throws, or if the connection or
 * a command fails or takes longer than `answerMsMax`.
 */
export async function withServer<T>(
  cluster: ClusterAddress,
  { host, port }: ServerAddress,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { username, password, isEncrypted } = cluster;
  const redis = new Redis({
    host,
    port,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(isEncrypted ? { tls: {} } : {}),
    // This short connection needs neither RESP3 nor client information.
    protocol: 2,
    disableClientInfo: true,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: answerMsMax,
    commandTimeout: answerMsMax,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

interface Discovery {
  known: readonly ServerAddress[];
  asking: Promise<ClusterNode[]> | undefined;
}

/**
 * All connections of this process to a cluster share one discovery of its servers. Otherwise all
 * connections would flood the servers with requests during an outage.
 */
const discoveries = new Map<string, Discovery>();

async function discover(cluster: ClusterAddress): Promise<ClusterNode[]> {
  const name = JSON.stringify(cluster);
  const discovery = discoveries.get(name) ?? { known: cluster.servers, asking: undefined };
  discoveries.set(name, discovery);
  discovery.asking ??= askCluster(cluster, discovery.known).finally(() => {
    discovery.asking = undefined;
  });
  const nodes = await discovery.asking;
  discovery.known = distinct([...cluster.servers, ...nodes.map(({ address }) => address)]);
  return nodes;
}

/**
 * Makes a connector class for ioredis. It connects to the present owner of the hash slot of `key`
 * (decision 46). If no owner is found, the attempt to connect fails.
 */
export function clusterConnector(cluster: ClusterAddress, key: string) {
  const slot = slotOf(key);

  return class ClusterConnector extends AbstractConnector {
    constructor() {
      super(disconnectMsMax);
    }

    /**
     * Returns a destroyed socket if no owner of the hash slot is found, or if the connection is
     * closed meanwhile. Must not reject, because ioredis would then not try again.
     */
    override async connect() {
      this.connecting = true;
      const owner = ownerOfSlot(await discover(cluster), slot);
      if (owner === undefined || !this.connecting) {
        this.firstError = new Error(
          `found no reachable owner of the hash slot of ${key}, or the connection was closed`,
        );
        this.stream = new Socket().destroy();
        return this.stream;
      }
      this.stream = open(owner);
      this.stream.once('error', (error: Error) => (this.firstError = error));
      return this.stream;
    }
  };

  function open({ host, port }: ServerAddress) {
    if (!cluster.isEncrypted) return createConnection({ host, port });
    return connectEncrypted({ host, port });
  }
}

function distinct(servers: readonly ServerAddress[]): ServerAddress[] {
  const byName = new Map(servers.map((one) => [`${one.host} ${one.port}`, one]));
  return [...byName.values()].slice(0, askedMax);
}
