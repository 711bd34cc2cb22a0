import type { Store } from '@svc/store';
import type { Activity } from './activity.ts';

/**
 * The moment of a fault. `before`: the statement has not been sent. `after`: the statement has
 * been executed, but the caller does not have the answer yet.
 */
export type Moment = 'before' | 'after';

/**
 * A simulated process that can be killed while it waits for an answer, as by `kill -9`. A request
 * that it has sent may still be executed, but the process runs no more code.
 */
export class Mortal {
  #isDead = false;
  #fuse: { calls: number; readonly moment: Moment; readonly strike: () => void } | undefined;
  #stalled: Promise<void> | undefined;
  readonly #activity: Activity;
  readonly #onDeath: () => void;
  readonly #death = Promise.withResolvers<void>();

  constructor(activity: Activity, onDeath: () => void) {
    this.#activity = activity;
    this.#onDeath = onDeath;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#death.resolve();
    this.#onDeath();
  }

  async orDead(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#death.promise]);
  }

  /**
   * Kills the process before or after statement number `calls`. The next statement has the number
   * 1. Replaces an earlier planned fault.
   */
  dieAt(calls: number, moment: Moment): void {
    this.strikeAt(calls, moment, () => this.die());
  }

  /**
   * Calls `strike` before or after statement number `calls`. `dieAt` explains how statements are
   * counted. Replaces an earlier planned fault.
   */
  strikeAt(calls: number, moment: Moment, strike: () => void): void {
    this.#fuse = { calls, moment, strike };
  }

  /**
   * Stalls the process: its statements reach Postgres only after the returned function is called.
   */
  stall(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stalled = promise;
    return () => {
      this.#stalled = undefined;
      resolve();
    };
  }

  spare(): void {
    this.#fuse = undefined;
  }

  /**
   * Calls `work`, unless the process is dead. If the process is dead or dies during the call, the
   * promise never settles.
   */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isDead) return await never;
    try {
      const answer = await this.#activity.during(work);
      return this.#isDead ? await never : answer;
    } catch (error) {
      if (this.#isDead) return await never;
      throw error;
    }
  }

  async #statement<T>(work: () => Promise<T>): Promise<T> {
    await this.#stalled;
    this.#burn('before');
    const answer = await this.outside(work);
    this.#burn('after');
    return this.#isDead ? await never : answer;
  }

  #burn(moment: Moment): void {
    const fuse = this.#fuse;
    if (fuse?.moment !== moment) return;
    fuse.calls -= 1;
    if (fuse.calls > 0) return;
    this.#fuse = undefined;
    fuse.strike();
  }

  /**
   * The store as this process sees it. A transaction counts as one statement, so a fault strikes
   * before or after the whole transaction.
   */
  store(store: Store): Store {
    const db = this.#client(store.db);
    const query: Store['query'] = (text, values) =>
      this.#statement(() => store.query(text, values));
    const transaction: Store['transaction'] = (work, options) =>
      this.#statement(() => store.transaction(work, options));
    return { ...store, db, query, transaction };
  }

  /**
   * Wraps the Prisma client `store.db` or one of its models. Each call of a method counts as one
   * statement.
   */
  #client<Client extends object>(client: Client): Client {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === 'function')
          return (...args: unknown[]) =>
            this.#statement(async (): Promise<unknown> => await Reflect.apply(value, target, args));
        return typeof value === 'object' && value !== null ? this.#client(value) : value;
      },
    });
  }

  outsider<T extends object>(other: T): T {
    return new Proxy(other, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          this.outside(async (): Promise<unknown> => await Reflect.apply(value, target, args));
      },
    });
  }
}

const never = new Promise<never>(() => {});
