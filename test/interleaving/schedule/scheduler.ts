import type { Random } from '../../simulation/random.ts';
import { ProcessKilled, type SimulatedProcess } from './process.ts';
import { Quiet } from './quiet.ts';
import { Trace } from './trace.ts';
import { Treatments } from './treatments.ts';

/** `fail`: a fault happens at the event. For example, a call or its answer is lost. */
export type Fate = 'go' | 'fail';

interface Held {
  readonly sequence: number;
  readonly process: SimulatedProcess | undefined;
  readonly name: string;
  readonly sinceMs: number;
  readonly canFail: boolean;
  /**
   * True if the event sends a write outside a transaction, or the first statement of a transaction.
   * Such a statement may wait for a lock.
   */
  readonly mayWait: boolean;
  frozenUntilStep: number;
  readonly release: (fate: Fate) => void;
}

interface HoldOptions {
  readonly canFail?: boolean;
  readonly mayWait?: boolean;
  readonly ticket?: Ticket;
}

type Event = Pick<Held, 'process' | 'name' | 'canFail' | 'release'> &
  Pick<HoldOptions, 'mayWait' | 'ticket'>;

interface SimulatedTimer {
  readonly sequence: number;
  readonly process: SimulatedProcess;
  readonly dueMs: number;
  readonly run: () => void;
}

/** The sequence number of an event, and the step until which the event is delayed. */
export interface Ticket {
  readonly sequence: number;
  readonly frozenUntilStep: number;
}

export interface Rates {
  /**
   * The probability that an event is delayed. For events with the treatment `slow`, it is
   * `treatedChance` instead. If `stall` is 0, only stalled processes delay events.
   */
  readonly stall: number;
  /**
   * The probability that an event with `canFail` fails. For events with the treatment `failing`, it
   * is `treatedChance` instead. If `fault` is 0, no event fails.
   */
  readonly fault: number;
}

/**
 * The longest delay of an event, unless its process is stalled. Outside the simulation, a
 * connection ends if Redis does not answer within this time (`socketTimeoutMs`).
 */
const transitMsMax = 3_000;
/**
 * The longest delay of an event whose process is stalled. It is shorter than the product's
 * `transactionTimeoutMs`, which is 10 s outside the simulation.
 */
const stalledMsMax = 9_000;

/**
 * Replaces `Rates.stall` for `slow` events and `Rates.fault` for `failing` events. A rate of 0 is
 * not replaced.
 */
const treatedChance = 0.4;
const stallStepsMin = 10;
const stallStepsMax = 160;
/**
 * The limit of a slow event's delay, in steps. Within so many steps, a node can link to another
 * dispatcher and get work there.
 */
const slowStepsMax = 500;

/**
 * Keeps back the outside calls of simulated processes, their answers, and timers that are due.
 * Releases one of them at a time, in the order that the seed decides.
 */
export class Scheduler {
  readonly random: Random;
  readonly ids: Random;
  readonly quiet: Quiet;
  readonly trace = new Trace();
  readonly #onMove: (nowMs: number) => Promise<void>;
  readonly #treatments: Treatments;
  readonly #held = new Set<Held>();
  readonly #timers = new Set<SimulatedTimer>();
  #rates: Rates;
  #sequence = 0;
  #nowMs: number;
  step = 0;

  constructor(options: {
    readonly seed: number;
    readonly random: Random;
    readonly ids: Random;
    readonly quiet: Quiet;
    readonly rates: Rates;
    readonly startMs: number;
    readonly onMove: (nowMs: number) => Promise<void>;
  }) {
    this.#treatments = new Treatments(options.seed);
    this.random = options.random;
    this.ids = options.ids;
    this.quiet = options.quiet;
    this.#rates = options.rates;
    this.#nowMs = options.startMs;
    this.#onMove = options.onMove;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /**
   * After this call, no event fails. Ends the delays of the held events. Does not end the stall of
   * a process.
   */
  heal(): void {
    this.#rates = { stall: 0, fault: 0 };
    for (const held of this.#held) held.frozenUntilStep = 0;
  }

  /**
   * Creates the ticket of an event before the event is held. An answer gets its ticket when its
   * request is sent, so real response times do not change the run.
   */
  ticket(name: string): Ticket {
    const isSlow = this.#rates.stall > 0 && this.#treatments.of(name) === 'slow';
    const isStalled = this.random.chance(isSlow ? treatedChance : this.#rates.stall);
    const spread = (isSlow ? slowStepsMax : stallStepsMax) - stallStepsMin;
    const stallSteps = isStalled ? stallStepsMin + this.random.nat(spread) : 0;
    return { sequence: (this.#sequence += 1), frozenUntilStep: this.step + stallSteps };
  }

  /**
   * Keeps back an event. Resolves with the event's fate when the scheduler releases the event.
   * Never resolves if the process is killed first.
   */
  hold(
    process: SimulatedProcess,
    name: string,
    { canFail = true, mayWait = false, ticket = this.ticket(name) }: HoldOptions = {},
  ): Promise<Fate> {
    return new Promise((resolve) => {
      if (!process.isDead)
        this.enqueue({ process, name, canFail, mayWait, ticket, release: resolve });
    });
  }

  /**
   * Like `hold`, but calls `release` with the fate. The event may have no process. Returns a
   * function that cancels the event.
   */
  enqueue({ ticket, mayWait = false, ...event }: Event): () => void {
    const held: Held = {
      ...event,
      ...(ticket ?? this.ticket(event.name)),
      mayWait,
      sinceMs: this.#nowMs,
    };
    this.#held.add(held);
    return () => this.#held.delete(held);
  }

  timer(process: SimulatedProcess, delayMs: number, run: () => void): () => void {
    const dueMs = this.#nowMs + Math.max(0, Math.ceil(delayMs));
    const timer = { sequence: (this.#sequence += 1), process, dueMs, run };
    if (!process.isDead) this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  forget(process: SimulatedProcess): void {
    for (const held of this.#held) if (held.process === process) this.#held.delete(held);
    for (const timer of this.#timers) if (timer.process === process) this.#timers.delete(timer);
  }

  /** The due time of the next timer, which may be in the past. Undefined if there is none. */
  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#timers) if (next === undefined || dueMs < next) next = dueMs;
    return next;
  }

  /**
   * How many milliseconds the clock may advance before an event has been kept back for too long.
   * Infinity if no event is kept back.
   */
  get allowanceMs(): number {
    let allowance = Number.POSITIVE_INFINITY;
    for (const { sinceMs, process } of this.#held) {
      const heldMsMax = this.isStalled(process) ? stalledMsMax : transitMsMax;
      allowance = Math.min(allowance, sinceMs + heldMsMax - this.#nowMs);
    }
    return allowance;
  }

  get heldCount(): number {
    return this.#held.size;
  }

  async moveTime(ms: number): Promise<void> {
    this.#nowMs += ms;
    await this.#onMove(this.#nowMs);
  }

  /**
   * Releases one event or runs one due timer. Without `thaws`, leaves out delayed events and
   * stalled processes. Returns false if nothing can be chosen.
   */
  releaseOne({ thaws }: { readonly thaws: boolean }): boolean {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs);
    const hasBlocked = this.quiet.hasBlocked;
    // A statement with `mayWait` is not sent while another statement waits for a lock. Otherwise
    // Postgres, and not the seed, would decide which of the two runs first.
    const free = [...this.#held].filter(
      (held) => !(hasBlocked && held.mayWait) && (thaws || !this.#isFrozen(held)),
    );
    const ready = due.filter(({ process }) => thaws || !this.isStalled(process));
    const chosen = this.random.pick(
      [...free, ...ready].toSorted((one, other) => one.sequence - other.sequence),
    );
    if (chosen === undefined) return false;
    if ('dueMs' in chosen) this.#fire(chosen);
    else this.#release(chosen);
    return true;
  }

  inProcess(process: SimulatedProcess, work: Promise<unknown>, onError: (error: unknown) => void) {
    work.catch((error: unknown) => {
      if (!(error instanceof ProcessKilled) && !process.isDead) onError(error);
    });
  }

  isStalled(process: SimulatedProcess | undefined): boolean {
    return process !== undefined && process.frozenUntilStep > this.step;
  }

  #isFrozen({ frozenUntilStep, process }: Held): boolean {
    return frozenUntilStep > this.step || this.isStalled(process);
  }

  #fire(timer: SimulatedTimer): void {
    this.#timers.delete(timer);
    this.trace.add(this.#nowMs, `${timer.process.name} timer`);
    timer.process.run(timer.run);
  }

  #release(held: Held): void {
    this.#held.delete(held);
    const { fault } = this.#rates;
    const isFailing = fault > 0 && this.#treatments.of(held.name) === 'failing';
    const fails = this.random.chance(isFailing ? treatedChance : fault);
    const fate = held.canFail && fails ? 'fail' : 'go';
    const failed = fate === 'fail' ? ' FAILS' : '';
    this.trace.add(this.#nowMs, `${held.process?.name ?? '-'} ${held.name}${failed}`);
    held.release(fate);
  }
}
