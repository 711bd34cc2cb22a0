import { setImmediate as turn } from 'node:timers/promises';

/** How many quiet turns of the event loop in a row mean that nothing is under way. */
const quietTurns = 3;
const stuckAfterMs = 30_000;

/** Counts what is under way between the parts of a run, so that a run can wait for all of it. */
export class Activity {
  #underWay = 0;
  /** Messages between dispatchers that were heard by Redis and not yet by their reader. */
  readonly #mail = new Map<string, number>();

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** A message is on its way to this dispatcher (+1), or has arrived (-1); in either order. */
  mail(dispatcherId: string, count: number): void {
    const left = (this.#mail.get(dispatcherId) ?? 0) + count;
    if (left === 0) this.#mail.delete(dispatcherId);
    else this.#mail.set(dispatcherId, left);
  }

  forget(dispatcherId: string): void {
    this.#mail.delete(dispatcherId);
  }

  /** Resolves when nothing is under way any more, but what waits for the time to move. */
  async settled(): Promise<void> {
    const startedMs = performance.now();
    for (let quiet = 0; quiet < quietTurns;) {
      await turn();
      quiet = this.#underWay === 0 && this.#mail.size === 0 ? quiet + 1 : 0;
      if (performance.now() - startedMs > stuckAfterMs) {
        const mail = [...this.#mail].map(([id, count]) => `${id}: ${count}`).join(', ');
        throw new Error(`${this.#underWay} calls and the mail of ${mail || 'nobody'} are stuck`);
      }
    }
  }
}
