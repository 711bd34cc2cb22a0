import type { Random } from '../../simulation/random.ts';
import { Quiet } from './quiet.ts';
import { ProcessKilled, type SimulatedProcess } from './process.ts';
import { Trace } from './trace.ts';
import { Treatments } from './treatments.ts';

/** `fail`: what is held is lost, or its answer is. */
export type Fate = 'go' | 'fail';

/** Something that waits until the seed lets it happen. */
interface Held {
  readonly sequence: number;
  readonly process: SimulatedProcess | undefined;
  readonly name: string;
  readonly sinceMs: number;
  readonly canFail: boolean;
  /** It may come to wait for a lock. */
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

/** The place of an event among others, and how long it is kept back. */
export interface Ticket {
  readonly sequence: number;
  readonly frozenUntilStep: number;
}

/** How often the seed does what is rare; each run has its own. */
export interface Rates {
  /** That something held is kept back while many others go on. */
  readonly stall: number;
  /** That something held fails. */
  readonly fault: number;
}

/** Nothing is on its way for longer: a connection that stood still so long is broken. */
const onItsWayMsMax = 3_000;
/** A process is stalled for no longer: beyond that Postgres ends its transaction. */
const stalledMsMax = 9_000;

const treatedChance = 0.4;
const stallStepsMin = 10;
const stallStepsMax = 160;
/** Of what is slow: long enough for a node to link elsewhere and to be given work there. */
const slowStepsMax = 500;

/**
 * Holds everything that a simulated process does outside of itself, and releases one thing at a
 * time, as the seed decides. Between two releases it waits until nothing runs any more.
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

  /** From now on nothing fails and nothing is kept back. */
  heal(): void {
    this.#rates = { stall: 0, fault: 0 };
    for (const held of this.#held) held.frozenUntilStep = 0;
  }

  /**
   * Draws a ticket ahead: two answers that come at once are then in the order in which they were
   * asked for, and not in that of their arrival.
   */
  ticket(name: string): Ticket {
    const isSlow = this.#rates.stall > 0 && this.#treatments.of(name) === 'slow';
    const isStalled = this.random.chance(isSlow ? treatedChance : this.#rates.stall);
    const spread = (isSlow ? slowStepsMax : stallStepsMax) - stallStepsMin;
    const stallSteps = isStalled ? stallStepsMin + this.random.nat(spread) : 0;
    return { sequence: (this.#sequence += 1), frozenUntilStep: this.step + stallSteps };
  }

  /** Resolves when the seed releases it. Never, if its process is killed before. */
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

  /** The same with a callback, and perhaps without a process. Returns how to take it back. */
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

  /** When the next timer is due; undefined if there is none. */
  get nextDueMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#timers) if (next === undefined || dueMs < next) next = dueMs;
    return next;
  }

  /** How far the time may move before something has been held for longer than it can be. */
  get allowanceMs(): number {
    let allowance = Number.POSITIVE_INFINITY;
    for (const { sinceMs, process } of this.#held) {
      const heldMsMax = this.isStalled(process) ? stalledMsMax : onItsWayMsMax;
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
   * Releases one thing that may happen now, picked by the seed; false if there is none. What is
   * kept back counts only with `thaws`. While a statement waits for a lock, no other one is sent
   * that may come to wait as well: Postgres would decide which of two goes first, and not the seed.
   */
  releaseOne({ thaws }: { readonly thaws: boolean }): boolean {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs);
    const hasBlocked = this.quiet.hasBlocked;
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

  /** Logs a failure that the product does not expect of itself. */
  inProcess(process: SimulatedProcess, work: Promise<unknown>, onError: (error: unknown) => void) {
    work.catch((error: unknown) => {
      if (!(error instanceof ProcessKilled) && !process.isDead) onError(error);
    });
  }

  /** The process gets no time now. */
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
