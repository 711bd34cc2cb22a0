import { setTimeout as delay } from 'node:timers/promises';
import type { Closer } from './closer.ts';
import { openLogFile } from './log-file.ts';
import { type ReadyLine, type ServiceCommand, startServiceProcess } from './service-process.ts';

export interface Supervision {
  readonly logsDir: string;
  readonly closer: Closer;
  readonly report: (line: string) => void;
  /** Called if a restart fails, or if a process ends after `restartsMax` restarts. */
  readonly giveUp: (error: unknown) => void;
  /** True if Node restarts a process after a change to a file that the process has loaded. */
  readonly isWatching: boolean;
}

const restartsMax = 5;
const restartDelayMs = 1_000;
const watchOptions = ['--watch', '--watch-preserve-output'];
/**
 * Matches the lines that Node prints in watch mode when it restarts a process, or when the process
 * ends with an error.
 */
const watchLine = /^(Restarting|Failed running) /;

/**
 * Starts a process, and restarts it if it ends before `closer` closes. Returns the ready line of
 * the first start, or throws StartError if that start fails.
 */
export async function supervise(
  command: ServiceCommand,
  supervision: Supervision,
  /** Returns the environment variables with which a restart uses the ports of the first start. */
  samePorts: (ready: ReadyLine) => NodeJS.ProcessEnv = () => ({}),
): Promise<ReadyLine> {
  const { logsDir, closer, report, giveUp, isWatching } = supervision;
  const log = openLogFile(logsDir, command.name.replaceAll(' ', '-'));
  const start = (extra: NodeJS.ProcessEnv) =>
    startServiceProcess({
      ...command,
      nodeOptions: isWatching ? watchOptions : [],
      env: { ...command.env, ...extra },
      onLine(line) {
        log.write(line);
        command.onLine?.(line);
        const found = isWatching ? watchLine.exec(line)?.[1] : undefined;
        if (found !== undefined) report(`${command.name}: ${found.toLowerCase()} (${log.file})`);
      },
    });
  let current = await start({});
  const { ready } = current;
  await closer.add(async () => {
    await current.stop();
    log.close();
  });
  const keepRunning = async () => {
    for (let restarts = 1; ; restarts += 1) {
      const how = await current.exited;
      if (closer.isClosing) return;
      if (restarts > restartsMax)
        throw new Error(`${command.name} ${how} after ${restartsMax} restarts. See ${log.file}`);
      report(`${command.name} ${how}. Restarting it. Its log: ${log.file}`);
      await delay(restartDelayMs);
      if (closer.isClosing) return;
      current = await start(samePorts(ready));
      // The stack may have been closed during this start.
      if (closer.isClosing) await current.stop();
    }
  };
  keepRunning().catch(giveUp);
  return ready;
}
