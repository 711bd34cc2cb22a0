import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresUnderTest } from '../faults/world/postgres-server.ts';
import { clusterUrl, newPasswords, type PostgresNode, preparePostgres } from './postgres-node.ts';

/**
 * A primary and its synchronous standby. `stop` stops both servers, and `clusterUrl` names both.
 * The other members of `PostgresUnderTest` act on the primary.
 */
export interface PostgresPair extends PostgresUnderTest {
  clusterUrl(): string;
  /**
   * Steps 1 to 3 of "Fail over" in docs/OPERATIONS.md: kills the primary and promotes the standby.
   * The new primary then commits without a standby.
   */
  failOver(): Promise<void>;
  /** Step 4 of "Fail over": the killed server returns as the standby. */
  restoreStandby(): Promise<void>;
}

const syncBoundMs = 60_000;
const lookEveryMs = 50;

export async function openPostgresPair(dir: string): Promise<PostgresPair> {
  const passwords = newPasswords();
  const prepare = (name: string) => {
    const own = path.join(dir, name);
    mkdirSync(own, { recursive: true, mode: 0o755 });
    return preparePostgres({ name, dir: own, passwords });
  };
  const nodes = [await prepare('a'), await prepare('b')] as const;
  let [primary, standby]: readonly PostgresNode[] = nodes;
  const roles = () => {
    if (primary === undefined || standby === undefined)
      throw new Error('the pair does not have two servers');
    return { primary, standby };
  };
  const follow = async (): Promise<void> => {
    const pair = roles();
    await pair.standby.copyFrom(pair.primary);
    await pair.standby.start();
    await requireStandby(pair.primary);
  };
  await roles().primary.start();
  await roles().primary.query(`CREATE ROLE svc LOGIN PASSWORD '${passwords.service}'`);
  await follow();
  return {
    port: () => roles().primary.port,
    pid: () => roles().primary.pid(),
    isUp: () => roles().primary.isUp(),
    url: () => roles().primary.url(),
    serviceUrl: () => clusterUrl([roles().primary], passwords),
    clusterUrl: () => clusterUrl(nodes, passwords),
    stopImmediately: () => roles().primary.kill(),
    start: () => roles().primary.start(),
    async failOver() {
      const pair = roles();
      await pair.primary.kill();
      await pair.standby.query('SELECT pg_promote(true, 60)');
      await requireNoStandby(pair.standby);
      [primary, standby] = [pair.standby, pair.primary];
    },
    restoreStandby: follow,
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}

/**
 * Step 3 of "Fail over" in docs/OPERATIONS.md: lets the new primary commit without a standby, even
 * if it has copied `synchronous_standby_names` from the old primary.
 */
async function requireNoStandby(primary: PostgresNode): Promise<void> {
  await primary.query('ALTER SYSTEM RESET synchronous_standby_names');
  await primary.query('SELECT pg_reload_conf()');
}

/**
 * Makes each commit of the primary wait for a standby. Resolves when a standby is synchronous.
 * Throws if no standby is synchronous within `syncBoundMs`.
 */
async function requireStandby(primary: PostgresNode): Promise<void> {
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (a, b)'`);
  await primary.query('SELECT pg_reload_conf()');
  const until = performance.now() + syncBoundMs;
  while (performance.now() < until) {
    const rows = await primary.query(
      "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'",
    );
    if (rows.length > 0) return;
    await sleep(lookEveryMs);
  }
  throw new Error(`Postgres ${primary.name} has no synchronous standby after ${syncBoundMs} ms`);
}
