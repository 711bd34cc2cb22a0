import path from 'node:path';
import type { RedisUnderTest } from '../faults/world/redis-server.ts';
import { prepareRedis, type RedisNode, serverLines, until } from './redis-node.ts';

/**
 * A master with two replicas and three sentinels. `stop` stops all of them, and `clusterUrl` names
 * the sentinels. The other members of `RedisUnderTest` act on the current master.
 */
export interface RedisWithSentinel extends RedisUnderTest {
  clusterUrl(): string;
  /** Kills the master, and waits until the sentinels have promoted a replica. */
  failOver(): Promise<void>;
  restoreReplica(): Promise<void>;
}

const masterName = 'svc';
const serverCount = 3;
const sentinelCount = 3;
const downAfterMs = 1_000;

export async function openRedisWithSentinel(dir: string): Promise<RedisWithSentinel> {
  const prepare = (name: string, isSentinel: boolean) =>
    prepareRedis({ name, dir: path.join(dir, name), isSentinel });
  const servers = await Promise.all(numbers(serverCount).map((n) => prepare(`redis-${n}`, false)));
  const sentinels = await Promise.all(
    numbers(sentinelCount).map((n) => prepare(`sentinel-${n}`, true)),
  );
  const [first] = servers;
  if (first === undefined) throw new Error('there is no master');
  let master: RedisNode = first;
  let killed: RedisNode | undefined;
  const replica = () => [...serverLines, `replicaof ${master.host} ${master.port}`];
  await first.start(serverLines);
  for (const other of servers.slice(1)) await other.start(replica());
  for (const sentinel of sentinels) await sentinel.start(sentinelLines(first));
  await until('the sentinels know two replicas and each other', () => everyoneKnows(sentinels));
  return {
    port: () => master.port,
    pid: () => master.pid(),
    isUp: () => master.isUp(),
    kill: () => master.kill(),
    start: () => master.start(serverLines),
    command: (line) => master.command(line),
    clusterUrl() {
      const hosts = sentinels.map(({ host, port }) => `${host}:${port}`).join(',');
      return `redis+sentinel://${hosts}/${masterName}`;
    },
    async failOver() {
      killed = master;
      await master.kill();
      await until('a replica is promoted', async () => {
        const port = await masterPort(sentinels);
        const promoted = servers.find((one) => one.port === port && one !== killed);
        if (promoted === undefined) return false;
        const role = await promoted.command('ROLE');
        if (!role.includes('master')) return false;
        master = promoted;
        return true;
      });
    },
    async restoreReplica() {
      await killed?.start(replica());
      killed = undefined;
      await until('two replicas are connected', async () =>
        (await master.command('INFO replication')).includes(`connected_slaves:${serverCount - 1}`),
      );
      // Without this wait, a sentinel may refuse the next failover for some seconds.
      await until('the sentinels know two replicas and each other', () => everyoneKnows(sentinels));
    },
    async stop() {
      for (const node of [...sentinels, ...servers]) await node.stop();
    },
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function sentinelLines({ host, port }: RedisNode): string[] {
  return [
    `sentinel monitor ${masterName} ${host} ${port} ${Math.floor(sentinelCount / 2) + 1}`,
    `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
    `sentinel failover-timeout ${masterName} 5000`,
    `sentinel parallel-syncs ${masterName} 2`,
  ];
}

async function everyoneKnows(sentinels: readonly RedisNode[]): Promise<boolean> {
  const answers = await Promise.all(sentinels.map((one) => one.command('INFO sentinel')));
  const wanted = `status=ok`;
  return answers.every(
    (answer) =>
      answer.includes(wanted) &&
      answer.includes(`slaves=${serverCount - 1},sentinels=${sentinelCount}`),
  );
}

async function masterPort(sentinels: readonly RedisNode[]): Promise<number> {
  const [sentinel] = sentinels;
  const answer = await sentinel?.command(`SENTINEL get-master-addr-by-name ${masterName}`);
  return Number(answer?.trim().split('\r\n').at(-1));
}
