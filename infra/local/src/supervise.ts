import { setTimeout as delay } from 'node:timers/promises';
import type { Closer } from './closer.ts';
import { openLogFile } from './log-file.ts';
import { type ReadyLine, type ServiceCommand, startServiceProcess } from './service-process.ts';

export interface Supervision {
  readonly logsDir: string;
  readonly closer: Closer;
  /** Told where a process ended that should run, and what comes of it. */
  readonly report: (line: string) => void;
  /** Told where a process cannot be kept running. */
  readonly giveUp: (error: unknown) => void;
  /** Node starts each process again when a file changes that it has loaded. */
  readonly isWatching: boolean;
}

/** A process that ends again and again has a reason that starting it once more will not cure. */
const restartsMax = 5;
const restartDelayMs = 1_000;
const watchOptions = ['--watch', '--watch-preserve-output'];
/** What Node prints in watch mode about a process. */
const watchLine = /^(Restarting|Failed running) /;

/**
 * Starts a process, keeps its log in a file, and starts it again on the same ports where it ends
 * unasked (kill -9 it and watch). Returns its ready line.
 */
export async function supervise(
  command: ServiceCommand,
  supervision: Supervision,
  /** The environment that gives a process started again the ports of the first one. */
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
        throw new Error(`${command.name} ${how} once more; see ${log.file}`);
      report(`${command.name} ${how}; starting it again (its log: ${log.file})`);
      await delay(restartDelayMs);
      if (closer.isClosing) return;
      current = await start(samePorts(ready));
      // Everything was closed while this one was starting.
      if (closer.isClosing) await current.stop();
    }
  };
  keepRunning().catch(giveUp);
  return ready;
}
