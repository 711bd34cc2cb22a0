import { appendFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type ReadyLine, type ServiceProcess, startServiceProcess } from '@svc/local';

export interface ProcessPlan {
  readonly name: string;
  readonly entry: string;
  /** A command prefix that starts the process elsewhere, for example in a network namespace. */
  readonly prefix?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /**
   * Environment variables to add at each start after the first one. They make a service use the
   * ports of its first start again.
   */
  readonly envAgain: (first: ReadyLine) => NodeJS.ProcessEnv;
  readonly clockFile: string;
  readonly logFile: string;
}

export interface ControlledProcess {
  readonly name: string;
  readonly ready: ReadyLine;
  pid(): number;
  isUp(): boolean;
  /** False after `kill` or `stop`, until `start`. */
  isWanted(): boolean;
  /** Ends the process with `kill -9`. It stays down until `start`. */
  kill(): Promise<void>;
  /**
   * Starts the process again. Repeats failed starts, because a server that the process needs may be
   * down too.
   */
  start(): Promise<void>;
  /** Stops the process with SIGSTOP. Its connections stay open. */
  pause(): void;
  resume(): void;
  setClockOffset(ms: number): void;
  /**
   * A description of each time that the process ended by itself. Each such end is a violation,
   * because a process must survive the failure of its dependencies.
   */
  readonly deaths: readonly string[];
  stop(): Promise<void>;
}

const startAgainAfterMs = 200;

interface Place {
  readonly plan: ProcessPlan;
  readonly deaths: string[];
  isWanted: boolean;
  first: ReadyLine | undefined;
  current: ServiceProcess | undefined;
  starting: Promise<void> | undefined;
}

export async function startControlled(plan: ProcessPlan): Promise<ControlledProcess> {
  const place: Place = {
    plan,
    deaths: [],
    isWanted: true,
    first: undefined,
    current: undefined,
    starting: undefined,
  };
  writeFileSync(plan.clockFile, '0');
  await start(place);
  const signal = (what: NodeJS.Signals): void => {
    if (place.current?.isRunning() === true) process.kill(place.current.pid, what);
  };
  return {
    name: plan.name,
    get ready() {
      return place.first ?? {};
    },
    isUp: () => place.current?.isRunning() ?? false,
    isWanted: () => place.isWanted,
    pid: () => place.current?.pid ?? 0,
    kill: () => end(place, (running) => running.kill()),
    start: () => start(place),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    setClockOffset(ms) {
      writeFileSync(plan.clockFile, `${ms}`);
      signal('SIGUSR2');
    },
    deaths: place.deaths,
    stop: () => end(place, (running) => running.stop()),
  };
}

async function start(place: Place): Promise<void> {
  place.isWanted = true;
  place.starting ??= launchUntilUp(place).finally(() => (place.starting = undefined));
  await place.starting;
}

async function launchUntilUp(place: Place): Promise<void> {
  while (place.isWanted && place.current === undefined) {
    try {
      await launch(place);
    } catch (error) {
      if (place.first === undefined) throw error;
      await delay(startAgainAfterMs);
    }
  }
}

async function launch(place: Place): Promise<void> {
  const { name, entry, prefix = [], env, envAgain, clockFile, logFile } = place.plan;
  const again = place.first === undefined ? {} : envAgain(place.first);
  const launched = await startServiceProcess({
    name,
    entry,
    prefix,
    env: { ...env, ...again, FAULTS_CLOCK_FILE: clockFile },
    onLine: (line) => appendFileSync(logFile, `${line}\n`),
  });
  place.first ??= launched.ready;
  place.current = launched;
  void watch(place, launched);
}

async function watch(place: Place, launched: ServiceProcess): Promise<void> {
  const how = await launched.exited;
  if (place.current !== launched) return;
  place.current = undefined;
  if (!place.isWanted) return;
  place.deaths.push(`${launched.name} ${how}: ${launched.logs().at(-1) ?? ''}`);
  await start(place);
}

async function end(place: Place, how: (running: ServiceProcess) => Promise<void>): Promise<void> {
  place.isWanted = false;
  await place.starting;
  const running = place.current;
  place.current = undefined;
  if (running !== undefined) await how(running);
}
