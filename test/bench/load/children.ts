import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describeExit } from '@svc/local';
import type { Load, LoadResult, WorldCounts, WorldMessage } from './messages.ts';

/** A child process of the benchmark. The caller must await each answer before the next question. */
interface Child<Question, Answer> {
  readonly pid: number;
  /** Throws if the process ends before it answers. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

async function startChild<Question extends object, Answer>(
  file: string,
): Promise<Child<Question, Answer>> {
  const child: ChildProcess = fork(path.join(import.meta.dirname, file), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout !== null) await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    async ask(question) {
      const ended = exited.then(() => {
        throw new Error(`${file} ${describeExit(child)} before it answered`);
      });
      const answered = once(child, 'message');
      child.send(question);
      const [message]: Answer[] = await Promise.race([answered, ended]);
      if (message === undefined) throw new Error(`${file} sent an empty answer`);
      return message;
    },
    async close() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export const startDriver = () => startChild<Load, LoadResult>('driver.ts');
export const startWorld = () => startChild<WorldMessage, WorldCounts>('world.ts');
export type Driver = Awaited<ReturnType<typeof startDriver>>;
export type World = Awaited<ReturnType<typeof startWorld>>;
