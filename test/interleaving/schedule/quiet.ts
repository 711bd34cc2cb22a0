import { immediatesWaiting } from '../host/host.ts';

/**
 * An operation on the real Postgres, Redis or disk. A transaction is one operation with several
 * calls: BEGIN, its statements and COMMIT.
 */
export interface Asking {
  readonly isStatement: boolean;
}

/**
 * If no call is answered within this time, and all calls in progress are statements, Postgres is
 * asked whether they wait for locks.
 */
const lookAfterMs = 1;
const stuckAfterMs = 20_000;

/**
 * Knows whether anything runs: code of the product, or a call to Postgres, Redis or the disk. A
 * statement that waits for a lock does not count as running.
 */
export class Quiet {
  /**
   * The number of calls in progress for each `Asking`. A transaction of a killed process can have
   * two: its last statement and its rollback.
   */
  readonly #asking = new Map<Asking, number>();
  /**
   * The statements that were seen waiting for a lock. `end` empties the set if the ended call may
   * have released a lock, because these statements may then run.
   */
  readonly #blocked = new Set<Asking>();
  readonly #countLockWaits: () => Promise<number>;
  #wake: (isAnswered: boolean) => void = () => {};
  lockWaits = 0;

  constructor(countLockWaits: () => Promise<number>) {
    this.#countLockWaits = countLockWaits;
  }

  get hasBlocked(): boolean {
    return this.#blocked.size > 0;
  }

  begin(asking: Asking): void {
    this.#asking.set(asking, (this.#asking.get(asking) ?? 0) + 1);
  }

  /**
   * Ends a call. With `keepsLocks`, the call released no lock, so the blocked statements still
   * wait.
   */
  end(asking: Asking, { keepsLocks = false }: { readonly keepsLocks?: boolean } = {}): void {
    const left = (this.#asking.get(asking) ?? 0) - 1;
    if (left > 0) this.#asking.set(asking, left);
    else this.#asking.delete(asking);
    if (keepsLocks) this.#blocked.delete(asking);
    else this.#blocked.clear();
    this.#wake(true);
  }

  /**
   * Runs `work` as one call. For a statement that fails, `keepsLocks` is ignored, because Postgres
   * then aborts its transaction and releases the locks.
   */
  async during<T>(
    asking: Asking,
    work: () => Promise<T>,
    { keepsLocks = !asking.isStatement }: { readonly keepsLocks?: boolean } = {},
  ): Promise<T> {
    this.begin(asking);
    let hasFailed = true;
    try {
      const answer = await work();
      hasFailed = false;
      return answer;
    } finally {
      this.end(asking, { keepsLocks: keepsLocks && !(asking.isStatement && hasFailed) });
    }
  }

  /**
   * Resolves when no code of the product is due to run, and each call has ended or waits for a
   * lock. Throws if that takes longer than `stuckAfterMs`.
   */
  async reached(): Promise<void> {
    const startedMs = performance.now();
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (immediatesWaiting() > 0) continue;
      if ([...this.#asking.keys()].every((one) => this.#blocked.has(one))) return;
      if (!(await this.#isAnswered()) && (await this.#allWaitForLocks())) return;
      if (performance.now() - startedMs > stuckAfterMs)
        throw new Error(
          `${this.#asking.size} operations still wait for Postgres, Redis or the disk after ${stuckAfterMs} ms`,
        );
    }
  }

  async #isAnswered(): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => this.#wake(false), lookAfterMs);
      this.#wake = (isAnswered) => {
        this.#wake = () => {};
        clearTimeout(timer);
        resolve(isAnswered);
      };
    });
  }

  async #allWaitForLocks(): Promise<boolean> {
    const asking = [...this.#asking.keys()];
    if (asking.some(({ isStatement }) => !isStatement)) return false;
    const waiting = await this.#countLockWaits();
    const isSame =
      asking.length === this.#asking.size && asking.every((one) => this.#asking.has(one));
    if (!isSame || waiting !== asking.length) return false;
    for (const one of asking) {
      if (!this.#blocked.has(one)) this.lockWaits += 1;
      this.#blocked.add(one);
    }
    return true;
  }
}
