import { setTimeout as sleep } from 'node:timers/promises';
import { immediatesWaiting } from '../host/host.ts';

/** Something real is being asked: a statement, a call to Redis, a write to disk. */
export interface Asking {
  readonly isStatement: boolean;
}

/** After this the wait is for a lock, or for a busy machine; Postgres is asked which. */
const lookAfterMs = 2;
const stuckAfterMs = 20_000;

/**
 * Knows whether anything runs: code of the product, a statement that Postgres works on, a call to
 * Redis. A statement that waits for a lock does not run: it waits for another process, which the
 * seed may let go on first.
 */
export class Quiet {
  /** How often each is asking: a transaction that is killed rolls back beside its last statement. */
  readonly #asking = new Map<Asking, number>();
  /** Those that were seen waiting for a lock, and nothing has ended since. */
  #blocked: ReadonlySet<Asking> = new Set();
  readonly #countLockWaits: () => Promise<number>;
  #wake: () => void = () => {};
  /** How often a statement was seen waiting for a lock. */
  lockWaits = 0;

  constructor(countLockWaits: () => Promise<number>) {
    this.#countLockWaits = countLockWaits;
  }

  /** Whether a statement waits for a lock. */
  get hasBlocked(): boolean {
    return this.#blocked.size > 0;
  }

  begin(asking: Asking): void {
    this.#asking.set(asking, (this.#asking.get(asking) ?? 0) + 1);
  }

  end(asking: Asking): void {
    const left = (this.#asking.get(asking) ?? 0) - 1;
    if (left > 0) this.#asking.set(asking, left);
    else this.#asking.delete(asking);
    this.#blocked = new Set();
    this.#wake();
  }

  async during<T>(asking: Asking, work: () => Promise<T>): Promise<T> {
    this.begin(asking);
    try {
      return await work();
    } finally {
      this.end(asking);
    }
  }

  /** Resolves when nothing runs any more. */
  async reached(): Promise<void> {
    const startedMs = performance.now();
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (immediatesWaiting() > 0) continue;
      if ([...this.#asking.keys()].every((one) => this.#blocked.has(one))) return;
      if (!(await this.#isAnswered()) && (await this.#allWaitForLocks())) {
        this.lockWaits += 1;
        return;
      }
      if (performance.now() - startedMs > stuckAfterMs)
        throw new Error(`${this.#asking.size} questions have no answer after ${stuckAfterMs} ms`);
    }
  }

  /** Waits a moment for the next answer. */
  async #isAnswered(): Promise<boolean> {
    const answered = new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true);
    });
    const controller = new AbortController();
    const { signal } = controller;
    const late = sleep(lookAfterMs, false, { signal }).catch(() => false);
    const isAnswered = await Promise.race([answered, late]);
    controller.abort();
    this.#wake = () => {};
    return isAnswered;
  }

  async #allWaitForLocks(): Promise<boolean> {
    const asking = [...this.#asking.keys()];
    if (asking.some(({ isStatement }) => !isStatement)) return false;
    const waiting = await this.#countLockWaits();
    const isSame =
      asking.length === this.#asking.size && asking.every((one) => this.#asking.has(one));
    const areBlocked = isSame && waiting === asking.length;
    if (areBlocked) this.#blocked = new Set(asking);
    return areBlocked;
  }
}
