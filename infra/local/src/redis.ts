import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { dieWithParent } from './child.ts';
import { freePort } from './ports.ts';
import { redisBinary } from './redis-binary.ts';
import { type RunningServer, startServer, withRetries } from './server-process.ts';

export interface RedisOptions {
  readonly dir: string;
  /**
   * True if Redis flushes its append-only file to disk every second. If false, the operating system
   * decides when to flush. Only tests and benchmarks use false.
   */
  readonly durable: boolean;
  /**
   * True for a server of a Redis Cluster. The server starts without hash slots. It serves a hash
   * slot only after the slot is assigned to it.
   */
  readonly isClustered?: boolean;
  readonly onFetch?: () => void;
}

const portAttemptsMax = 3;

/**
 * Starts a Redis server on a free port of 127.0.0.1. Throws StartError if no Redis is available.
 */
export async function startRedis(options: RedisOptions): Promise<RunningServer> {
  const { dir, durable, isClustered = false } = options;
  const binary = await redisBinary(options.onFetch);
  mkdirSync(dir, { recursive: true });
  const password = randomBytes(24).toString('hex');
  return withRetries(portAttemptsMax, async () => {
    const port = await freePort();
    const configFile = path.join(dir, 'redis.conf');
    const busPort = isClustered ? await freePort() : null;
    const lines = configuration({ port, busPort, dir, password, durable });
    writeFileSync(configFile, lines, { mode: 0o600 });
    const server = await startServer({
      name: 'Redis',
      command: [...dieWithParent('TERM'), binary.file, configFile],
      env: binary.env,
      logFile: path.join(dir, 'redis.log'),
      stopSignal: 'SIGTERM',
      isReady: () => answersPing(port, password),
    });
    return { ...server, port, url: `redis://:${password}@127.0.0.1:${port}` };
  });
}

interface RedisConfiguration {
  readonly port: number;
  /** The port for the other servers of the same cluster. Null for a single server. */
  readonly busPort: number | null;
  readonly dir: string;
  readonly password: string;
  readonly durable: boolean;
}

function configuration({ port, busPort, dir, password, durable }: RedisConfiguration): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(dir)}`,
    'save ""',
    'appendonly yes',
    `appendfsync ${durable ? 'everysec' : 'no'}`,
    // BullMQ requires a server that never evicts keys.
    'maxmemory-policy noeviction',
    ...(busPort === null ? [] : clusterLines(busPort)),
    '',
  ].join('\n');
}

function clusterLines(busPort: number): string[] {
  return ['cluster-enabled yes', `cluster-port ${busPort}`, 'cluster-require-full-coverage no'];
}

/**
 * True if the server answers PING with PONG. A server that still loads its file answers with an
 * error.
 */
async function answersPing(port: number, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.end(`AUTH ${password}\r\nPING\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer.includes('+PONG');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
