import { hosts, type Host } from '../host/host.ts';

/** What a process needs of the scheduler that holds it. */
export interface ProcessScheduler {
  /** Simulated time, ms since the epoch. */
  readonly nowMs: number;
  readonly ids: { nat(below: number): number };
  timer(process: SimulatedProcess, delayMs: number, run: () => void): () => void;
  forget(process: SimulatedProcess): void;
}

/** A process was killed: what it waits for never comes back to it. */
export class ProcessKilled extends Error {
  override readonly name = 'ProcessKilled';
}

const never = new Promise<never>(() => {});

/**
 * One simulated process. All its code runs inside `run`, so that its clock, its timers and its ids
 * are its own, and end with it.
 */
export class SimulatedProcess implements Host {
  readonly name: string;
  /** How far this host's clock is ahead. */
  readonly skewMs: number;
  readonly #scheduler: ProcessScheduler;
  readonly #death = Promise.withResolvers<never>();
  #isDead = false;
  /** None of its events is released before this step: the process is stalled. */
  frozenUntilStep = 0;

  constructor(scheduler: ProcessScheduler, name: string, skewMs: number) {
    this.name = name;
    this.skewMs = skewMs;
    this.#scheduler = scheduler;
    this.#death.promise.catch(() => {});
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  run<T>(work: () => T): T {
    return hosts.run(this, work);
  }

  /** Ends the process at once, as `kill -9` does. */
  kill(): void {
    this.#isDead = true;
    this.#death.reject(new ProcessKilled(`${this.name} was killed`));
    this.#scheduler.forget(this);
  }

  /** The answer, unless the process has been killed meanwhile: then nothing, for ever. */
  async alive<T>(answer: T): Promise<T> {
    return this.#isDead ? await never : answer;
  }

  /** Rejects with `ProcessKilled` if the process is killed before `work` is done. */
  async orKilled<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, this.#death.promise]);
  }

  nowMs(): number {
    return this.#scheduler.nowMs + this.skewMs;
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#scheduler.timer(this, delayMs, run);
  }

  nat(below: number): number {
    return this.#scheduler.ids.nat(below);
  }
}
