import { setImmediate as turn } from 'node:timers/promises';

/** The number of quiet turns of the event loop in a row after which nothing is in flight. */
const quietTurns = 3;
const stuckAfterMs = 30_000;

/**
 * Counts calls and messages in flight between the parts of a run, so that a run can wait for all of
 * them.
 */
export class Activity {
  #inFlight = 0;
  /** Messages between dispatchers that Redis has delivered and their reader has not handled yet. */
  readonly #mail = new Map<string, number>();

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
    }
  }

  /**
   * A message is on its way to this dispatcher (+1), or has arrived (-1). Both may come in either
   * order.
   */
  mail(dispatcherId: string, count: number): void {
    const left = (this.#mail.get(dispatcherId) ?? 0) + count;
    if (left === 0) this.#mail.delete(dispatcherId);
    else this.#mail.set(dispatcherId, left);
  }

  forget(dispatcherId: string): void {
    this.#mail.delete(dispatcherId);
  }

  /** Resolves when nothing is in flight, except what waits for the clock to advance. */
  async settled(): Promise<void> {
    const startedMs = performance.now();
    for (let quiet = 0; quiet < quietTurns;) {
      await turn();
      quiet = this.#inFlight === 0 && this.#mail.size === 0 ? quiet + 1 : 0;
      if (performance.now() - startedMs > stuckAfterMs) {
        const mail = [...this.#mail].map(([id, count]) => `${id}: ${count}`).join(', ');
        throw new Error(`${this.#inFlight} calls and the mail of ${mail || 'nobody'} are stuck`);
      }
    }
  }
}
