import { hosts, type Host } from '../host/host.ts';

export interface ProcessScheduler {
  /** The simulated time: Unix time in milliseconds. */
  readonly nowMs: number;
  readonly ids: { nat(below: number): number };
  timer(process: SimulatedProcess, delayMs: number, run: () => void): () => void;
  forget(process: SimulatedProcess): void;
}

export class ProcessKilled extends Error {
  override readonly name = 'ProcessKilled';
}

const never = new Promise<never>(() => {});

/**
 * All code of the process runs inside `run`, so it uses the clock, timers and ids of the process.
 * The timers end with the process.
 */
export class SimulatedProcess implements Host {
  readonly name: string;
  /** How far the clock of this process is ahead of the simulated time. Negative if it is behind. */
  readonly skewMs: number;
  readonly #scheduler: ProcessScheduler;
  readonly #death = Promise.withResolvers<never>();
  #isDead = false;
  /**
   * Until this step the process is stalled, so its events and timers wait. A call of `releaseOne`
   * with `thaws` can release one of them earlier.
   */
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

  /** Ends the process at once, like `kill -9`. */
  kill(): void {
    this.#isDead = true;
    this.#death.reject(new ProcessKilled(`${this.name} was killed`));
    this.#scheduler.forget(this);
  }

  /** Resolves with `answer`, or never if the process was killed before this call. */
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
