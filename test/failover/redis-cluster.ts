import path from 'node:path';
import { freePort } from '@svc/local';
import type { RedisUnderTest } from '../faults/world/redis-server.ts';
import { prepareRedis, type RedisNode, serverLines, until } from './redis-node.ts';

/**
 * Three masters with a replica each. `stop` stops all servers, and `clusterUrl` names all of them.
 * The other members of `RedisUnderTest` act on the master with the queues.
 */
export interface RedisCluster extends RedisUnderTest {
  clusterUrl(): string;
  /** Kills the master that has the queues, and waits until its replica is promoted. */
  failOver(): Promise<void>;
  restoreReplica(): Promise<void>;
}

interface Member extends RedisNode {
  readonly busPort: number;
}

const masterCount = 3;
const slotCount = 16_384;
/** The hash tag of all keys and channels of the services, except the key `svc:environment`. */
const queueKey = '{svc}';
const nodeTimeoutMs = 1_000;

export async function openRedisCluster(dir: string): Promise<RedisCluster> {
  const names = Array.from({ length: 2 * masterCount }, (_, index) => `redis-${index}`);
  const members = await Promise.all(
    names.map(async (name): Promise<Member> => {
      const node = await prepareRedis({ name, dir: path.join(dir, name) });
      return { ...node, busPort: await freePort() };
    }),
  );
  for (const member of members) await member.start(linesOf(member));
  const slot = await join(members);
  let owner = await ownerOf(members, slot);
  let killed: Member | undefined;
  return {
    port: () => owner.port,
    pid: () => owner.pid(),
    isUp: () => owner.isUp(),
    kill: () => owner.kill(),
    start: () => owner.start(linesOf(owner)),
    command: (line) => owner.command(line),
    clusterUrl: () =>
      `redis+cluster://${members.map(({ host, port }) => `${host}:${port}`).join(',')}`,
    async failOver() {
      const lost = owner;
      killed = lost;
      await lost.kill();
      const others = members.filter((one) => one !== lost);
      await until('the replica of the killed master is promoted', async () => {
        const found = await ownerOf(others, slot);
        if (found === lost || !(await found.command('ROLE')).includes('master')) return false;
        owner = found;
        return true;
      });
    },
    async restoreReplica() {
      await killed?.start(linesOf(killed));
      killed = undefined;
      await until('the cluster is ok, and every master has a replica again', () =>
        isWhole(members),
      );
    },
    async stop() {
      for (const member of members) await member.stop();
    },
  };
}

function linesOf({ busPort }: Member): string[] {
  return [
    ...serverLines,
    'cluster-enabled yes',
    `cluster-port ${busPort}`,
    `cluster-node-timeout ${nodeTimeoutMs}`,
    'cluster-replica-validity-factor 0',
  ];
}

/** Joins the servers into a cluster. Returns the hash slot of the queues. */
async function join(members: readonly Member[]): Promise<number> {
  const [first] = members;
  if (first === undefined) throw new Error('the cluster has no servers');
  const masters = members.slice(0, masterCount);
  for (const [index, master] of masters.entries()) {
    const start = Math.floor((index * slotCount) / masterCount);
    const end = Math.floor(((index + 1) * slotCount) / masterCount) - 1;
    await demand(master, `CLUSTER ADDSLOTSRANGE ${start} ${end}`);
    await demand(master, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
  }
  for (const { host, port, busPort } of members.slice(1)) {
    await demand(first, `CLUSTER MEET ${host} ${port} ${busPort}`);
  }
  await until('all servers know each other', async () => {
    const answers = await Promise.all(members.map((one) => one.command('CLUSTER INFO')));
    return answers.every((answer) => answer.includes(`cluster_known_nodes:${members.length}\r\n`));
  });
  for (const [index, replica] of members.slice(masterCount).entries()) {
    const id = await bulk(masters[index], 'CLUSTER MYID');
    await until('each new replica accepts its master', async () =>
      (await replica.command(`CLUSTER REPLICATE ${id}`)).startsWith('+OK'),
    );
  }
  await until('the cluster is ok, and every master has a replica', () => isWhole(members));
  return Number((await first.command(`CLUSTER KEYSLOT ${queueKey}`)).slice(1));
}

async function demand(member: Member, line: string): Promise<void> {
  const answer = await member.command(line);
  if (!answer.startsWith('+OK')) throw new Error(`${line}: ${answer}`);
}

/** Sends a command. Returns the answer without its first line, which is the answer's length. */
async function bulk(member: Member | undefined, line: string): Promise<string> {
  const answer = (await member?.command(line)) ?? '';
  return answer.slice(answer.indexOf('\r\n') + 2).trim();
}

async function ownerOf(members: readonly Member[], slot: number): Promise<Member> {
  const asked = members.find((one) => one.isUp());
  const lines = (await bulk(asked, 'CLUSTER NODES')).split('\n');
  const line = lines.find((one) => ownsSlot(one.trim().split(' '), slot)) ?? '';
  const port = Number(/:(\d+)@/.exec(line)?.[1]);
  const found = members.find((one) => one.port === port);
  if (found === undefined) throw new Error(`no known server owns slot ${slot}`);
  return found;
}

function ownsSlot(fields: readonly string[], slot: number): boolean {
  return fields.slice(8).some((range) => {
    const [first = '', last = first] = range.split('-');
    return Number(first) <= slot && slot <= Number(last);
  });
}

/** True if every server reports the cluster as `ok`, and a linked replica follows each master. */
async function isWhole(members: readonly Member[]): Promise<boolean> {
  const states = await Promise.all(members.map((one) => one.command('CLUSTER INFO')));
  const roles = await Promise.all(members.map((one) => one.command('INFO replication')));
  const count = (role: string): number => roles.filter((answer) => answer.includes(role)).length;
  return (
    states.every((state) => state.includes('cluster_state:ok')) &&
    count('connected_slaves:1') === masterCount &&
    count('master_link_status:up') === masterCount
  );
}
