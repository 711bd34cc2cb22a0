import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { dieWithParent, freePort, postgresAccount, runCommand, startServer } from '@svc/local';
import { Client } from 'pg';
import { debianPostgres, isPostgresUp } from './debian-postgres.ts';

const connectionsMax = 300;
const serviceRole = 'svc';

export interface PostgresNode {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  pid(): number;
  isUp(): boolean;
  /** The URL of this server, with the credentials of the database's owner. */
  url(): string;
  start(): Promise<void>;
  /** Stops the server with a fast shutdown. */
  stop(): Promise<void>;
  /** Ends the server and its child processes with `kill -9`, without a shutdown. */
  kill(): Promise<void>;
  /**
   * Replaces the files of this server by a copy of `primary`. The next `start` starts the server as
   * a standby of `primary`.
   */
  copyFrom(primary: PostgresNode): Promise<void>;
  /** Runs one statement as the superuser `postgres`, and returns its rows. */
  query(sql: string): Promise<Record<string, unknown>[]>;
}

export interface PostgresNodeOptions {
  readonly name: string;
  readonly dir: string;
  /** Equal for all servers of a cluster. */
  readonly passwords: { readonly owner: string; readonly service: string };
  readonly host?: string;
  /** A prefix that runs each command elsewhere, for example in a network namespace. */
  readonly prefix?: readonly string[];
}

function newPassword(): string {
  return randomBytes(24).toString('hex');
}

export function newPasswords(): PostgresNodeOptions['passwords'] {
  return { owner: newPassword(), service: newPassword() };
}

export function clusterUrl(
  nodes: readonly PostgresNode[],
  { service }: PostgresNodeOptions['passwords'],
): string {
  const hosts = nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  return `postgresql://${serviceRole}:${service}@${hosts}/postgres?target_session_attrs=read-write`;
}

/** Does not start the server. The first `start` or `copyFrom` creates the files of the server. */
export async function preparePostgres(options: PostgresNodeOptions): Promise<PostgresNode> {
  const { name, dir, passwords, host = '127.0.0.1', prefix = [] } = options;
  const { binDir, env } = await debianPostgres();
  const account = postgresAccount();
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const dataDir = path.join(account.place(dir), 'data');
  const port = await freePort();
  const url = `postgresql://postgres:${passwords.owner}@${host}:${port}/postgres`;
  let server: { pid: number; stop: () => Promise<void> } | undefined;
  const run = (command: readonly string[]) =>
    runCommand([...prefix, ...account.prefix, 'env', ...pairs(env), ...command]);
  const node: PostgresNode = {
    name,
    host,
    port,
    pid: () => server?.pid ?? 0,
    isUp: () => server !== undefined,
    url: () => url,
    async start() {
      if (!existsSync(dataDir))
        await initialise(dataDir, passwords.owner, { account, binDir, run });
      server ??= await startServer({
        name: `Postgres ${name}`,
        command: [
          ...prefix,
          ...account.prefix,
          ...dieWithParent('INT'),
          path.join(binDir, 'postgres'),
          '-D',
          dataDir,
          '-p',
          `${port}`,
          ...settingsOf(host),
        ],
        env,
        logFile: path.join(dir, 'postgres.log'),
        stopSignal: 'SIGINT',
        isReady: (pid) => Promise.resolve(isPostgresUp(dataDir, pid)),
      });
    },
    async stop() {
      const stopped = server;
      server = undefined;
      await stopped?.stop();
    },
    async kill() {
      const killed = server;
      server = undefined;
      if (killed === undefined) return;
      for (const pid of [killed.pid, ...childrenOf(killed.pid)]) signalKill(pid);
      await killed.stop();
    },
    async copyFrom(primary) {
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(dataDir, { mode: 0o700 });
      account.give(dataDir);
      await run([
        path.join(binDir, 'pg_basebackup'),
        `--pgdata=${dataDir}`,
        `--dbname=${primary.url()}?application_name=${name}`,
        '--checkpoint=fast',
        '--write-recovery-conf',
      ]);
    },
    query: (sql) => queryOnce(url, sql),
  };
  return node;
}

function settingsOf(host: string): string[] {
  const settings = {
    listen_addresses: host,
    unix_socket_directories: '',
    max_connections: connectionsMax,
    timezone: 'UTC',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function initialise(
  dataDir: string,
  password: string,
  {
    account,
    binDir,
    run,
  }: {
    readonly account: ReturnType<typeof postgresAccount>;
    readonly binDir: string;
    readonly run: (command: readonly string[]) => Promise<unknown>;
  },
): Promise<void> {
  const passwordFile = `${dataDir}.password`;
  mkdirSync(dataDir, { mode: 0o700 });
  account.give(dataDir);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  account.give(passwordFile);
  await run([
    path.join(binDir, 'initdb'),
    `--pgdata=${dataDir}`,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  rmSync(passwordFile);
  const everyHost = ['host all all all scram-sha-256', 'host replication all all scram-sha-256'];
  appendFileSync(path.join(dataDir, 'pg_hba.conf'), `${everyHost.join('\n')}\n`);
}

function pairs(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
}

function signalKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

async function queryOnce(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, application_name: 'failover' });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
