import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dieWithParent, freePort, redisBinary, startServer } from '@svc/local';
import { redisCommand } from '../support/redis-command.ts';

const boundMs = 30_000;
const lookEveryMs = 50;

export interface RedisNode {
  readonly host: string;
  readonly port: number;
  pid(): number;
  isUp(): boolean;
  start(lines: readonly string[]): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  /**
   * Resolves with the raw answer. Throws if the connection fails, or if the server sends nothing
   * for 5 s.
   */
  command(line: string): Promise<string>;
}

export interface RedisNodeOptions {
  readonly name: string;
  readonly dir: string;
  readonly host?: string;
  /** A command prefix that runs the process elsewhere, for example in a network namespace. */
  readonly prefix?: readonly string[];
  readonly isSentinel?: boolean;
}

/** Configuration lines for persistence and memory. The Redis of `npm start` has them too. */
export const serverLines = [
  'save ""',
  'appendonly yes',
  'appendfsync everysec',
  'maxmemory-policy noeviction',
];

export async function prepareRedis(options: RedisNodeOptions): Promise<RedisNode> {
  const { name, dir, host = '127.0.0.1', prefix = [], isSentinel = false } = options;
  const binary = await redisBinary();
  const port = await freePort();
  mkdirSync(dir, { recursive: true });
  let server: { pid: number; stop: () => Promise<void> } | undefined;
  const ask = (line: string) => redisCommand(host, port, line);
  return {
    host,
    port,
    pid: () => server?.pid ?? 0,
    isUp: () => server !== undefined,
    async start(lines) {
      const configFile = path.join(dir, 'redis.conf');
      const common = [`bind ${host}`, 'protected-mode no', `port ${port}`, `dir ${dir}`];
      writeFileSync(configFile, [...common, ...lines, ''].join('\n'));
      server ??= await startServer({
        name: `Redis ${name}`,
        command: [
          ...prefix,
          ...dieWithParent('TERM'),
          binary.file,
          configFile,
          ...(isSentinel ? ['--sentinel'] : []),
        ],
        env: binary.env,
        logFile: path.join(dir, 'redis.log'),
        stopSignal: 'SIGTERM',
        isReady: () =>
          ask('PING').then(
            (answer) => answer.startsWith('+PONG'),
            () => false,
          ),
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
      process.kill(killed.pid, 'SIGKILL');
      await killed.stop();
    },
    command: ask,
  };
}

/** Waits until `check` is true. A check that throws counts as false. Throws after `boundMs`. */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + boundMs;
  while (performance.now() < endMs) {
    if (await check().catch(() => false)) return;
    await sleep(lookEveryMs);
  }
  throw new Error(`this did not happen within ${boundMs} ms: ${what}`);
}
