import type { Store } from '@svc/store';
import type { QueryResultRow } from 'pg';
import type { SimulatedProcess } from './process.ts';
import type { Asking } from './quiet.ts';
import type { Scheduler, Ticket } from './scheduler.ts';

type Query = Store['query'];

/** The error that `pg` throws for a broken connection. */
function connectionLost(): Error {
  return new Error('Connection terminated unexpectedly');
}

const labelLengthMax = 56;

function labelOf(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, labelLengthMax);
}

const writes = /\b(INSERT|UPDATE|DELETE)\b/;
const readOnly = /^(find|count|aggregate|groupBy)/;
const audited = /\b(submissions|credit_accounts|ledger_entries|events|deliveries|tenants)\b/;

interface Session extends Asking {
  hasBegun: boolean;
}

/**
 * A store for one simulated process. The scheduler decides when a statement is sent and when its
 * answer returns. A statement that fails may have taken effect.
 */
export class GatedStore {
  readonly #process: SimulatedProcess;
  readonly #scheduler: Scheduler;
  /**
   * Called after each transaction that commits. Also called after a write without a transaction, if
   * the auditor reads the written table.
   */
  readonly #onCommit: () => void;

  constructor(process: SimulatedProcess, scheduler: Scheduler, onCommit: () => void) {
    this.#process = process;
    this.#scheduler = scheduler;
    this.#onCommit = onCommit;
  }

  over(base: Store): Store {
    const query: Query = (text, values) =>
      this.#statement(text, {}, () => base.query(text, values));
    const db = new Proxy(base.db, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        const isModel = typeof value === 'object' && value !== null;
        return isModel ? this.#model(value, String(name)) : value;
      },
    });
    return {
      ...base,
      db,
      query,
      transaction: (work, options) =>
        this.#inTransaction(
          (inside: (real: Query) => ReturnType<typeof work>) => base.transaction(inside, options),
          (real, session) => {
            // Statements that are sent together still run one after another.
            let last: Promise<unknown> = Promise.resolve();
            return work(<Row extends QueryResultRow>(text: string, values: readonly unknown[]) => {
              const next = last.then(() =>
                this.#statement(text, { session }, () => real<Row>(text, values)),
              );
              last = next;
              return next;
            });
          },
        ),
    };
  }

  #model(model: object, modelName: string): object {
    return new Proxy(model, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const verb = readOnly.test(String(name)) ? 'SELECT' : 'UPDATE';
        return (...args: unknown[]) =>
          this.#statement(
            `${verb} ${modelName}.${String(name)}`,
            {},
            async () => await Reflect.apply(value, target, args),
          );
      },
    });
  }

  async #statement<T>(
    text: string,
    { session }: { readonly session?: Session },
    ask: () => Promise<T>,
  ): Promise<T> {
    const process = this.#process;
    const name = labelOf(text);
    const isWrite = writes.test(text);
    const mayWait = session === undefined ? isWrite : !session.hasBegun;
    const sent = await this.#scheduler.hold(process, `sends ${name}`, { mayWait });
    if (session !== undefined) session.hasBegun = true;
    if (sent === 'fail') throw connectionLost();
    const ticket = this.#scheduler.ticket(`hears ${name}`);
    const asking = session ?? { isStatement: true };
    const keepsLocks = session !== undefined || !isWrite;
    const asked = this.#scheduler.quiet.during(asking, ask, { keepsLocks });
    const [answer] = await Promise.allSettled([asked]);
    if (session === undefined && isWrite && audited.test(text)) this.#onCommit();
    await process.alive(undefined);
    if ((await this.#scheduler.hold(process, `hears ${name}`, { ticket })) === 'fail')
      throw connectionLost();
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  async #inTransaction<Real, Result>(
    begin: (inside: (real: Real) => Promise<Result>) => Promise<Result>,
    work: (real: Real, session: Session) => Promise<Result>,
  ): Promise<Result> {
    const process = this.#process;
    const { quiet } = this.#scheduler;
    let ticket: Ticket | undefined;
    if ((await this.#scheduler.hold(process, 'sends BEGIN')) === 'fail') throw connectionLost();
    const session: Session = { isStatement: true, hasBegun: false };
    const [outcome] = await Promise.allSettled([
      quiet.during(session, () =>
        begin(async (real) => {
          quiet.end(session, { keepsLocks: true });
          try {
            const result = await process.orKilled(work(real, session));
            const fate = await process.orKilled(this.#scheduler.hold(process, 'sends COMMIT'));
            if (fate === 'fail') throw connectionLost();
            ticket = this.#scheduler.ticket('hears COMMIT');
            return result;
          } finally {
            // The COMMIT or ROLLBACK counts as a call in progress until Postgres has answered.
            quiet.begin(session);
          }
        }),
      ),
    ]);
    if (outcome.status === 'fulfilled') this.#onCommit();
    await process.alive(undefined);
    if (outcome.status === 'rejected') throw outcome.reason;
    if (
      (await this.#scheduler.hold(
        process,
        'hears COMMIT',
        ticket === undefined ? {} : { ticket },
      )) === 'fail'
    )
      throw connectionLost();
    return outcome.value;
  }
}
