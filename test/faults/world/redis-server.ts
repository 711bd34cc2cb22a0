import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dieWithParent, freePort, redisBinary, startServer } from '@svc/local';
import { redisCommand } from '../../support/redis-command.ts';

/**
 * The Redis of a world. `openRedis` opens one server that is configured like the Redis of
 * `npm start`, but without a password.
 */
export interface RedisUnderTest {
  readonly port: () => number;
  readonly pid: () => number;
  isUp(): boolean;
  /**
   * Present if Redis is a cluster, has sentinels or runs on another host. Services then connect
   * without a `TcpProxy`, to the URL that this function returns.
   */
  clusterUrl?(): string;
  /** Ends Redis with `kill -9`. Writes that are not in its file yet are lost. */
  kill(): Promise<void>;
  /**
   * Starts Redis. With `empty`, Redis starts without its data file, as on a new machine. Does
   * nothing if Redis is up.
   */
  start(options?: { readonly empty?: boolean }): Promise<void>;
  /**
   * Sends one command. Resolves with the raw answer. Throws if the connection fails, or if the
   * server sends nothing for 5 s.
   */
  command(line: string): Promise<string>;
  stop(): Promise<void>;
}

export async function openRedis(dir: string): Promise<RedisUnderTest> {
  const binary = await redisBinary();
  const port = await freePort();
  let server: { pid: number; stop: () => Promise<void> } | undefined;
  const launch = async (empty: boolean): Promise<void> => {
    if (empty) rmSync(path.join(dir, 'appendonlydir'), { recursive: true, force: true });
    const configFile = path.join(dir, 'redis.conf');
    writeFileSync(configFile, configuration(port, dir));
    server = await startServer({
      name: 'Redis',
      command: [...dieWithParent('TERM'), binary.file, configFile],
      env: binary.env,
      logFile: path.join(dir, 'redis.log'),
      stopSignal: 'SIGTERM',
      isReady: () =>
        redisCommand('127.0.0.1', port, 'PING').then(
          (answer) => answer.startsWith('+PONG'),
          () => false,
        ),
    });
  };
  /**
   * Starts Redis. If it does not start with its data files, deletes them and starts it again, as an
   * operator would. A full disk can damage the data files.
   */
  const launchAtAnyRate = async (empty: boolean): Promise<void> => {
    try {
      await launch(empty);
    } catch (error) {
      if (empty) throw error;
      process.stderr.write(
        `Redis did not start with its data file, and is started again without it. The error was: ${String(error)}\n`,
      );
      await launch(true);
    }
  };
  let starting: Promise<void> | undefined;
  // Two faults may end at the same time, and both then start Redis. The second call only waits for
  // the start that has begun, so its `empty` has no effect.
  const start = async ({ empty = false } = {}): Promise<void> => {
    if (server !== undefined) return;
    starting ??= launchAtAnyRate(empty).finally(() => (starting = undefined));
    await starting;
  };
  await start();
  return {
    port: () => port,
    pid: () => server?.pid ?? 0,
    isUp: () => server !== undefined,
    async kill() {
      const killed = server;
      server = undefined;
      if (killed === undefined) return;
      process.kill(killed.pid, 'SIGKILL');
      await killed.stop();
    },
    start,
    command: (line) => redisCommand('127.0.0.1', port, line),
    async stop() {
      await server?.stop();
    },
  };
}

function configuration(port: number, dir: string): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${JSON.stringify(dir)}`,
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}
