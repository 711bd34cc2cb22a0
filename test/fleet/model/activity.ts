import { setImmediate as turn } from 'node:timers/promises';

/** `settled` resolves when nothing was in flight for this many consecutive event loop turns. */
const quietTurns = 3;
const stuckAfterMs = 30_000;

export class Activity {
  #inFlight = 0;
  /**
   * For each dispatcher, the number of messages sent to it minus the number that it handled. May be
   * negative: a message may be counted as handled first.
   */
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
   * Counts a message to the dispatcher. `count` is 1 when the message is sent, and -1 when the
   * dispatcher handles it. Either call may come first.
   */
  mail(dispatcherId: string, count: number): void {
    const left = (this.#mail.get(dispatcherId) ?? 0) + count;
    if (left === 0) this.#mail.delete(dispatcherId);
    else this.#mail.set(dispatcherId, left);
  }

  forget(dispatcherId: string): void {
    this.#mail.delete(dispatcherId);
  }

  /**
   * Resolves when no call and no message is in flight. Timers do not count. Throws after
   * `stuckAfterMs`.
   */
  async settled(): Promise<void> {
    const startedMs = performance.now();
    for (let quiet = 0; quiet < quietTurns;) {
      await turn();
      quiet = this.#inFlight === 0 && this.#mail.size === 0 ? quiet + 1 : 0;
      if (performance.now() - startedMs > stuckAfterMs) {
        const mail = [...this.#mail].map(([id, count]) => `${id}: ${count}`).join(', ');
        throw new Error(
          `the run is stuck: ${this.#inFlight} calls have not ended; unhandled messages per dispatcher: ${mail || 'none'}`,
        );
      }
    }
  }
}
