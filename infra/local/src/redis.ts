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
  /** The directory of its append-only files and its log. It is created if it is missing. */
  readonly dir: string;
  /** False in tests only: nothing is flushed to disk. */
  readonly durable: boolean;
  /** Called before a server is fetched, which takes some seconds. */
  readonly onFetch?: () => void;
}

const portAttemptsMax = 3;

/**
 * Starts a Redis server on a free port of 127.0.0.1. Its password is in its configuration file and
 * not in its command line. The server ends when this process ends in any way. Throws StartError if
 * no Redis is available.
 */
export async function startRedis(options: RedisOptions): Promise<RunningServer> {
  const { dir, durable } = options;
  const binary = await redisBinary(options.onFetch);
  mkdirSync(dir, { recursive: true });
  const password = randomBytes(24).toString('hex');
  return withRetries(portAttemptsMax, async () => {
    const port = await freePort();
    const configFile = path.join(dir, 'redis.conf');
    writeFileSync(configFile, configuration({ port, dir, password, durable }), { mode: 0o600 });
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
  readonly dir: string;
  readonly password: string;
  readonly durable: boolean;
}

/** BullMQ needs a server that never evicts keys. A restart needs the append-only file. */
function configuration({ port, dir, password, durable }: RedisConfiguration): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(dir)}`,
    'save ""',
    'appendonly yes',
    `appendfsync ${durable ? 'everysec' : 'no'}`,
    'maxmemory-policy noeviction',
    '',
  ].join('\n');
}

/** A server that is still loading its file answers PING with an error. */
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
