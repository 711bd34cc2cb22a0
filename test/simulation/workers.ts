import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Operation, Outcome, Reply } from './operations.ts';

export type Ended =
  | { readonly kind: 'answered'; readonly outcome: Outcome }
  | { readonly kind: 'unknown'; readonly why: string };

export interface Worker {
  readonly name: string;
  readonly perform: (operation: Operation) => Promise<Ended>;
  /**
   * Ends the process with `kill -9`. Operations in flight end as unknown. Resolves when the process
   * has exited.
   */
  readonly kill: () => Promise<void>;
}

/** The worker process exits when its parent process exits. */
export function startWorker(name: string, env: NodeJS.ProcessEnv): Worker {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'worker.ts'), {
    env: { ...process.env, ...env, SIMULATION_NAME: name },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (ended: Ended) => void>();
  let nextId = 0;
  child.on('message', (reply: Reply) => {
    const resolve = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('outcome' in reply) resolve?.({ kind: 'answered', outcome: reply.outcome });
    else resolve?.({ kind: 'unknown', why: reply.error });
  });
  const giveUp = (): void => {
    for (const resolve of waiting.values()) resolve({ kind: 'unknown', why: 'killed' });
    waiting.clear();
  };
  child.on('exit', giveUp);
  return {
    name,
    perform(operation) {
      if (child.exitCode !== null || child.signalCode !== null) {
        return Promise.resolve({ kind: 'unknown', why: 'gone' });
      }
      nextId += 1;
      const id = nextId;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        child.send({ id, operation }, (error) => {
          if (error !== null && waiting.delete(id)) resolve({ kind: 'unknown', why: 'not sent' });
        });
      });
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
