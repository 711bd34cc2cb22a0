import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { describeExit, dieWithParent } from '@svc/local';

export interface SvcHosts {
  /** The path of the Unix socket that takes commands by HTTP (see svc.ts). */
  readonly socketPath: string;
  close(): Promise<void>;
}

/** The most commands that run at once. Further commands wait. */
const hostsMax = 3;
const commandBoundMs = 60_000;

/**
 * Runs commands of `svc` for all test files in a few processes, because a start takes 0.4 s of CPU,
 * but most commands take only 0.02 s.
 */
export async function startSvcHosts(options: {
  readonly dir: string;
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<SvcHosts> {
  const hosts = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const waiting: ((host: ChildProcess) => void)[] = [];
  const start = () => {
    const host = startHost(options);
    hosts.add(host);
    return host;
  };
  const freeHost = () => idle.pop() ?? (hosts.size < hostsMax ? start() : nextFreed());
  const nextFreed = () => new Promise<ChildProcess>((resolve) => waiting.push(resolve));
  const run = async (command: object): Promise<unknown> => {
    const host = await freeHost();
    try {
      return await answerOf(host, command);
    } catch (error) {
      hosts.delete(host);
      throw error;
    } finally {
      const next = waiting.shift();
      if (next !== undefined) next(hosts.has(host) ? host : start());
      else if (hosts.has(host)) idle.push(host);
    }
  };
  const socketPath = path.join(options.dir, 'svc.sock');
  const server = createServer((request, response) => {
    json(request)
      .then((command) => run(Object(command)))
      .then(
        (answer) => response.end(JSON.stringify(answer)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  await once(server.listen(socketPath), 'listening');
  return {
    socketPath,
    async close() {
      server.close();
      for (const host of hosts) host.kill('SIGKILL');
    },
  };
}

function startHost({ entry, env }: { entry: string; env: NodeJS.ProcessEnv }): ChildProcess {
  const command = [...dieWithParent('KILL'), process.execPath, entry];
  return spawn(command[0] ?? '', command.slice(1), {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/**
 * Sends a command to a host. Rejects if the host ends or cannot be started, or if the command
 * cannot be sent. Kills a host that does not answer within `commandBoundMs`.
 */
function answerOf(host: ChildProcess, command: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const bound = setTimeout(() => host.kill('SIGKILL'), commandBoundMs);
    const settle = () => {
      clearTimeout(bound);
      host.off('message', onAnswer).off('exit', onExit).off('error', onError);
    };
    const onAnswer = (answer: unknown) => {
      settle();
      resolve(answer);
    };
    const onExit = () => {
      settle();
      reject(new Error(`svc ${describeExit(host)} before it answered`));
    };
    const onError = ({ message }: Error) => {
      settle();
      reject(new Error(`could not send the command to svc: ${message}`));
    };
    host.on('message', onAnswer).on('exit', onExit).on('error', onError);
    host.send(command);
  });
}
