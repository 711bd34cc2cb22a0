import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import type { Answer, Order } from './messages.ts';
import { serversVariable } from './test-files.ts';

/** A worker exited or did not answer in time. The next order starts another worker. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost';
}

export interface Worker {
  /**
   * Starts the worker process if it does not run. Throws WorkerLost if the process exits, does not
   * answer within `boundMs`, or does not start within `startMsMax`.
   */
  ask(order: Order, boundMs: number): Promise<Answer>;
  close(): Promise<void>;
}

const startMsMax = 60_000;
const endMsMax = 20_000;

export function createWorker(servers: TestServers): Worker {
  let current: ChildProcess | undefined;

  const kill = () => {
    const child = current;
    current = undefined;
    if (child?.pid === undefined) return;
    try {
      // Kills the process group: the worker and its child processes. A child process in which a
      // test blocks the event loop would otherwise survive.
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  };

  const start = async () => {
    current = fork(path.join(import.meta.dirname, 'worker.ts'), {
      env: { ...process.env, [serversVariable]: JSON.stringify(servers) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
    });
    await answerOf(current, startMsMax);
    return current;
  };

  return {
    async ask(order, boundMs) {
      try {
        const child = current ?? (await start());
        const answer = answerOf(child, boundMs);
        child.send(order);
        return await answer;
      } catch (error) {
        kill();
        throw error;
      }
    },
    async close() {
      if (current === undefined) return;
      await this.ask({ kind: 'end' }, endMsMax).catch(() => {});
      kill();
    },
  };
}

function answerOf(child: ChildProcess, boundMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      finish();
    };
    const onMessage = (answer: Answer) => settle(() => resolve(answer));
    const onExit = () => settle(() => reject(new WorkerLost('the worker has ended')));
    const tooLate = () =>
      settle(() => reject(new WorkerLost(`the worker did not answer within ${boundMs} ms`)));
    const timer = setTimeout(tooLate, boundMs);
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
