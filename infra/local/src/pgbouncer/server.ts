import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { dieWithParent } from '../child.ts';
import { freePort } from '../ports.ts';
import { unprivileged } from '../postgres-account.ts';
import { type RunningServer, startServer, withRetries } from '../server-process.ts';
import { StartError } from '../start-error.ts';
import { pgbouncerBinary } from './binary.ts';

export interface PgbouncerOptions {
  readonly dir: string;
  /**
   * The URL of any database of the Postgres server, with the role and the password that the clients
   * of PgBouncer use.
   */
  readonly databaseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The port to listen on, such as the port of an earlier start. The default is a free port. */
  readonly port?: number;
  readonly onFetch?: () => void;
}

const portAttemptsMax = 3;

/**
 * Starts PgBouncer in transaction mode on 127.0.0.1, in front of a Postgres server. Throws
 * StartError if `pgbouncerBinary` does, or if PgBouncer would run as root.
 */
export async function startPgbouncer(options: PgbouncerOptions): Promise<RunningServer> {
  const binary = await pgbouncerBinary(options.onFetch);
  const prefix = unprivileged();
  if (prefix === undefined)
    throw new StartError('PgBouncer cannot run as root.', 'Use an account that is not root.');
  mkdirSync(options.dir, { recursive: true });
  const attempts = options.port === undefined ? portAttemptsMax : 1;
  return withRetries(attempts, async () => {
    const port = options.port ?? (await freePort());
    const configFile = writeConfiguration(options, port);
    const server = await startServer({
      name: 'PgBouncer',
      command: [...prefix, ...dieWithParent('INT'), binary, configFile],
      logFile: path.join(options.dir, 'pgbouncer.log'),
      // After SIGTERM, PgBouncer 1.23 or newer waits until all clients have disconnected. If this
      // takes too long, `stop` kills PgBouncer.
      stopSignal: 'SIGTERM',
      isReady: () => accepts(port),
    });
    const url = new URL(options.databaseUrl);
    url.host = `127.0.0.1:${port}`;
    return { ...server, port, url: url.href };
  });
}

function writeConfiguration(
  { dir, databaseUrl, settings }: PgbouncerOptions,
  port: number,
): string {
  const { username, password, hostname, port: serverPort } = new URL(databaseUrl);
  const usersFile = path.join(dir, 'users.txt');
  writeFileSync(usersFile, `"${username}" "${password}"\n`, { mode: 0o600 });
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: `${port}`,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: usersFile,
    admin_users: username,
    pool_mode: 'transaction',
    max_prepared_statements: '500',
    max_client_conn: '1000',
    default_pool_size: '10',
    ...settings,
  };
  const configFile = path.join(dir, 'pgbouncer.ini');
  const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}`);
  // With `*`, clients reach every database of the Postgres server.
  const databases = `* = host=${hostname} port=${serverPort}`;
  writeFileSync(configFile, ['[databases]', databases, '[pgbouncer]', ...text, ''].join('\n'), {
    mode: 0o600,
  });
  return configFile;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.destroy());
    socket.once('error', () => resolve(false));
    socket.once('close', (hadError) => resolve(!hadError));
  });
}
