import { createConnection, Socket } from 'node:net';
import { connect as connectEncrypted } from 'node:tls';
import { AbstractConnector, Redis } from 'ioredis';
import { type ClusterNode, ownerOfSlot, parseClusterNodes } from './cluster-nodes.ts';
import type { ClusterAddress, ServerAddress } from './redis-address.ts';

/** A server that has not answered by then is not asked any more. */
const answerMsMax = 1_000;
/** The most servers that are asked for the owner of a slot. */
const askedMax = 16;
const disconnectMsMax = 2_000;

/** The answers of the servers of a cluster. Servers that do not answer in time are left out. */
export interface ClusterAnswers {
  readonly nodes: readonly ClusterNode[];
  /** The slot of the key. Undefined if no server answers. */
  readonly slot: number | undefined;
}

/** Asks these servers at the same time which servers the cluster has. */
export async function askCluster(
  cluster: ClusterAddress,
  servers: readonly ServerAddress[],
  key: string,
): Promise<ClusterAnswers> {
  const asked = await Promise.allSettled(
    servers.map((server) =>
      withServer(cluster, server, async (redis) => {
        const [text, slot] = await Promise.all([
          redis.cluster('NODES'),
          redis.cluster('KEYSLOT', key),
        ]);
        return { nodes: parseClusterNodes(String(text), server, cluster), slot };
      }),
    ),
  );
  const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return { nodes: answers.flatMap(({ nodes }) => nodes), slot: answers[0]?.slot };
}

/** Runs `work` with a connection to one server of the cluster. Throws if it does not answer in time. */
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

/**
 * Makes an ioredis connector that connects to the present owner of the key's slot. It asks all known
 * servers before each attempt, and learns further servers from their answers. Without an owner the
 * attempt fails, and `retryStrategy` decides when the next one follows.
 */
export function clusterConnector(cluster: ClusterAddress, key: string) {
  let known = cluster.servers;

  async function findOwner(): Promise<ServerAddress | undefined> {
    const { nodes, slot } = await askCluster(cluster, known, key);
    known = distinct([...cluster.servers, ...nodes.map(({ address }) => address)]);
    return slot === undefined ? undefined : ownerOfSlot(nodes, slot);
  }

  return class ClusterConnector extends AbstractConnector {
    constructor() {
      super(disconnectMsMax);
    }

    override async connect() {
      this.connecting = true;
      const owner = await findOwner();
      if (!this.connecting) throw new Error('Connection is closed.');
      this.stream = owner === undefined ? new Socket().destroy() : open(owner);
      if (owner === undefined) {
        this.firstError = new Error(`no reachable server of the cluster has the slot of ${key}`);
      } else {
        this.stream.once('error', (error: Error) => (this.firstError = error));
      }
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
