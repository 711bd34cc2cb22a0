import { callbackify } from 'node:util';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { isUnavailable, WritesRefused } from './errors.ts';

/**
 * A URL for each host of `databaseUrl`, because `pg` accepts one host per URL. Several hosts are
 * written as in libpq: `postgresql://user@a:5432,b:5432/database`.
 */
export function urlsOfHosts(databaseUrl: string): readonly [string, ...string[]] {
  const [, start = '', authority = '', rest = ''] =
    /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(databaseUrl) ?? [];
  const [first = '', ...others] = authority.split(',').map((host) => `${start}${host}${rest}`);
  return others.length === 0 ? [databaseUrl] : [first, ...others];
}

/**
 * Every new connection is to a host that accepts writes, also if there is only one host (decision
 * 39, CONTRACT 9).
 */
export function createPool(databaseUrl: string, config: PoolConfig): Pool {
  const urls = urlsOfHosts(databaseUrl);
  // The pool awaits the promise of `onConnect`, but the types of the pool do not say so.
  // oxlint-disable-next-line typescript/no-misused-promises
  const checked: PoolConfig = { ...config, onConnect: assertWritable };
  if (urls.length === 1) return new Pool({ ...checked, connectionString: databaseUrl });
  return new FailoverPool(urls, checked);
}

/**
 * Connects to the first host that accepts writes. A single host is not checked for writes. Throws
 * an `AggregateError` if all of several hosts fail.
 */
export async function connectClient(
  databaseUrl: string,
  configOf: (url: string) => ClientConfig,
): Promise<Client> {
  const urls = urlsOfHosts(databaseUrl);
  const errors: unknown[] = [];
  for (const url of urls) {
    const client = new Client(configOf(url));
    try {
      await client.connect();
      if (urls.length > 1) await assertWritable(client);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      errors.push(error);
    }
  }
  throw errors.length === 1
    ? errors[0]
    : new AggregateError(errors, 'could not connect to a Postgres host that accepts writes');
}

/** Throws `WritesRefused` if the server is a standby, or if the session is read-only. */
export async function assertWritable(client: Pick<Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ pid: number; standby: boolean; read_only: boolean }>(
    `SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby,
       current_setting('transaction_read_only') = 'on' AS read_only`,
  );
  const [found] = rows;
  if (found?.standby === false && !found.read_only) return;
  // A pooler keeps its read-only session after this client has gone. Ends it, because it would stay
  // read-only after the server no longer is.
  if (found !== undefined && Reflect.get(client, 'processID') !== found.pid)
    await client.query(endReadOnlySession).catch(() => {});
  throw new WritesRefused({ isStandby: found?.standby !== false });
}

/** The pooler may run it in another session than the check. A session that may write stays. */
const endReadOnlySession = `SELECT pg_terminate_backend(pg_backend_pid())
  WHERE current_setting('transaction_read_only') = 'on'`;

interface Turn {
  readonly urls: readonly string[];
  at: number;
}

/**
 * If a host is unavailable or a standby, `connect` tries the next host, with at most as many
 * attempts as hosts. After any other failure, `connect` rejects at once.
 */
class FailoverPool extends Pool {
  readonly #turn: Turn;

  constructor(urls: readonly string[], config: PoolConfig) {
    const turn: Turn = { urls, at: 0 };
    class HostClient extends Client {
      constructor(clientConfig?: ClientConfig) {
        super({ ...clientConfig, connectionString: turn.urls[turn.at] ?? '' });
      }
    }
    super({ ...config, Client: HostClient });
    this.#turn = turn;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Parameters<Pool['connect']>[0]): void;
  override connect(callback?: Parameters<Pool['connect']>[0]): Promise<PoolClient> | void {
    if (callback === undefined) return this.#connectToAny();
    const connectToAny = callbackify(() => this.#connectToAny());
    connectToAny((error, client) => {
      if (error !== null) return callback(error, undefined, () => {});
      callback(undefined, client, (broken) => client.release(broken));
    });
  }

  async #connectToAny(): Promise<PoolClient> {
    const turn = this.#turn;
    for (let left = turn.urls.length; ; left -= 1) {
      const tried = turn.at;
      try {
        return await super.connect();
      } catch (error) {
        // If no connection of the pool became free in time, the error says nothing about the host.
        if (isPoolExhausted(error) || !isUnavailable(error)) throw error;
        // Another caller may have chosen the next host in the meantime.
        if (turn.at === tried) turn.at = (tried + 1) % turn.urls.length;
        if (left <= 1) throw error;
      }
    }
  }
}

function isPoolExhausted(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect';
}
