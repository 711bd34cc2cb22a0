import type { Clock } from '@svc/runtime';
import type { Timer, Timers } from '../../../services/dispatcher/src/timers.ts';

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/**
 * One clock for everything in a run: the dispatchers, the registry in Redis and, through `onMove`,
 * the database. It stands still until a run moves it.
 */
export class ModelTime implements Clock {
  #nowMs: number;
  readonly #due = new Set<Due>();
  readonly #onMove: (nowMs: number) => Promise<void>;

  constructor(startMs: number, onMove: (nowMs: number) => Promise<void>) {
    this.#nowMs = startMs;
    this.#onMove = onMove;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  /** When a timer is due, it calls `run` only if `isAlive` returns true. */
  timers(isAlive: () => boolean): Timers {
    return {
      after: (delayMs, run): Timer => {
        const due = {
          atMs: this.#nowMs + Math.ceil(delayMs),
          run: () => {
            if (isAlive()) run();
          },
        };
        this.#due.add(due);
        return { clear: () => this.#due.delete(due) };
      },
    };
  }

  /** Advances the clock by `ms`. Stops at each due timer, calls it and waits for `settled`. */
  async advance(ms: number, settled: () => Promise<void>): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#next(untilMs);
      if (next === undefined) break;
      await this.#moveTo(Math.max(next.atMs, this.#nowMs));
      this.#due.delete(next);
      next.run();
      await settled();
    }
    await this.#moveTo(untilMs);
  }

  #next(untilMs: number): Due | undefined {
    let next: Due | undefined;
    for (const due of this.#due) {
      if (due.atMs <= untilMs && (next === undefined || due.atMs < next.atMs)) next = due;
    }
    return next;
  }

  async #moveTo(nowMs: number): Promise<void> {
    if (nowMs === this.#nowMs) return;
    this.#nowMs = nowMs;
    await this.#onMove(nowMs);
  }
}
