import { type RunningPostgres, startPostgres } from '@svc/local';

export interface PostgresUnderTest {
  readonly port: () => number;
  readonly pid: () => number;
  isUp(): boolean;
  /** The URL with the role that owns the tables. It leads to Postgres without a proxy. */
  url(): string;
  /** The URL with the role of the services. It leads to Postgres without a proxy. */
  serviceUrl(): string;
  /**
   * Present if Postgres has several servers or runs on another host. Services then connect without
   * a proxy, to the URL that this function returns. The URL names all servers.
   */
  clusterUrl?(): string;
  /**
   * Stops Postgres without a checkpoint, in its mode `immediate` or with `kill -9`. Postgres
   * replays its log at the next start.
   */
  stopImmediately(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function throughProxy(databaseUrl: string, proxyPort: number): string {
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = `${proxyPort}`;
  return url.href;
}

const connectionsMax = 300;
const startAttemptsMax = 50;

/** Opens a Postgres that is durable as in production: a commit survives any stop. */
export async function openPostgres(dir: string): Promise<PostgresUnderTest> {
  const begin = () => startPostgres({ dir, durable: true, connectionsMax });
  let server: RunningPostgres | undefined = await begin();
  let last = server;
  return {
    port: () => last.port,
    pid: () => last.pid,
    isUp: () => server !== undefined,
    url: () => last.url,
    serviceUrl: () => last.serviceUrl('postgres'),
    async stopImmediately() {
      const stopped = server;
      server = undefined;
      if (stopped === undefined) return;
      try {
        process.kill(stopped.pid, 'SIGQUIT');
      } catch {
        // The server has already ended, for example because its disk is full.
      }
      await stopped.stop();
    },
    async start() {
      if (server !== undefined) return;
      for (let attempt = 1; server === undefined; attempt += 1) {
        try {
          server = await begin();
          last = server;
        } catch (error) {
          if (attempt >= startAttemptsMax) throw error;
        }
      }
    },
    async stop() {
      await server?.stop();
      server = undefined;
    },
  };
}
