import { setImmediate as nextTurn } from 'node:timers/promises';
import { databaseBatchMaxDefault } from '@svc/domain';
import { type Run, runBatch } from './batch-run.ts';
import { type Call, createCall, openCalls } from './calls.ts';
import { BatchOverflow } from './errors.ts';
import { reported, type Shared } from './shared-statements.ts';
import type { Store } from './store.ts';

/**
 * A batch takes at least this many of the waiting inputs, if so many wait and `sizeMax` allows it.
 * Two smaller statements would cost more than one.
 */
const batchShareMin = 16;
/** The most inputs that wait in one batcher. Further calls are rejected with `BatchOverflow`. */
export const batchWaitingMax = 10_000;
/** The default of `answerMsMax`. The `statement_timeout` in Postgres has the same value. */
const answerMsDefault = 10_000;

interface BatchOptions {
  /** The maximum number of unanswered batches; default 1. */
  readonly inFlightMax?: number;
  /**
   * The most inputs in one statement. The default is the `batchMax` of the store, or
   * `databaseBatchMaxDefault` if `createBatcher` is called directly.
   */
  readonly sizeMax?: number;
  /** A call is answered or rejected within this time; default 10 s. */
  readonly answerMsMax?: number;
}

/** Makes a function whose concurrent calls for one store run in batches (`createBatcher`). */
export function batched<Input, Output>(
  options: BatchOptions & {
    readonly run: (
      store: Store,
      ...batch: Parameters<Run<Input, Output>>
    ) => ReturnType<Run<Input, Output>>;
    /** How to report a statement that several inputs shared. If omitted, nothing is reported. */
    readonly shared?: Shared<Input>;
  },
): (store: Store, input: Input) => Promise<Output> {
  const { run, shared, ...limits } = options;
  const batchers = new WeakMap<Store, (input: Input) => Promise<Output>>();
  return (store, input) => {
    let batcher = batchers.get(store);
    if (batcher === undefined) {
      batcher = createBatcher<Input, Output>({
        sizeMax: store.batchMax,
        ...limits,
        run: reported(shared, (...batch) => {
          store.batches.count += 1;
          store.batches.calls += batch[0].length;
          return run(store, ...batch);
        }),
      });
      batchers.set(store, batcher);
    }
    return batcher(input);
  };
}

/**
 * Coalesces calls into batches. A call rejects with `BatchOverflow` if `batchWaitingMax` calls
 * wait, and with `AnswerOverdue` after `answerMsMax`.
 */
export function createBatcher<Input, Output>(
  options: BatchOptions & { readonly run: Run<Input, Output> },
): (input: Input) => Promise<Output> {
  const {
    run,
    inFlightMax = 1,
    sizeMax = databaseBatchMaxDefault,
    answerMsMax = answerMsDefault,
  } = options;
  const waiting: Call<Input, Output>[] = [];
  /** The number of loops in `drain` that have not ended. A loop ends when no call waits. */
  let inFlight = 0;
  /** The number of loops in `drain` whose batch is not answered yet. */
  let running = 0;

  async function drain(): Promise<void> {
    inFlight += 1;
    // Waits for one turn of the event loop, in which callers that were answered just now can call
    // again. Without this wait, batches were half as large.
    await nextTurn();
    while (waiting.length > 0) {
      // Divides the waiting inputs among the batches that may start. Otherwise one batch could get
      // all of them (decision 9).
      const share = Math.ceil(waiting.length / (inFlightMax - running));
      const batch = openCalls(waiting.splice(0, Math.min(sizeMax, Math.max(share, batchShareMin))));
      if (batch.length === 0) continue;
      running += 1;
      // The loop continues as soon as all callers of the batch have an answer. The batch may then
      // still run, for example after `AnswerOverdue`.
      const answered = Promise.all(batch.map((call) => call.answered));
      await Promise.race([runBatch(run, batch), answered]);
      running -= 1;
      await nextTurn();
    }
    inFlight -= 1;
  }

  return (input) => {
    if (waiting.length >= batchWaitingMax) {
      return Promise.reject(
        new BatchOverflow(`${batchWaitingMax} calls already wait for the database`),
      );
    }
    const call = createCall<Input, Output>(input, answerMsMax);
    waiting.push(call);
    if (inFlight < inFlightMax) void drain();
    return call.answer;
  };
}
