import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerOverdue, BatchOverflow, isAnswerLost } from './errors.ts';
import type { Store } from './store.ts';

/**
 * Coalesces calls. Calls of one turn of the event loop form a batch, and calls that arrive while a
 * batch runs form the next one. Apart from a batch in flight, a call waits one turn at most. A call
 * that comes alone is a batch of one.
 */
export interface Batcher<Input, Output> {
  /**
   * The outcome of this input alone. Rejects if its statement failed. Rejects with `AnswerOverdue`
   * after `answerMsMax`; the input may then have been done, or may still be done.
   */
  call(input: Input): Promise<Output>;
}

/** The most inputs in one statement. */
const batchSizeMax = 64;
/** A batch is not split below this size, because a separate statement costs more than the wait. */
const batchShareMin = 16;
/** The most inputs that wait in memory. Further calls are rejected with `BatchOverflow`. */
export const batchWaitingMax = 10_000;
/**
 * A call is answered within this time unless its batcher has another limit. Node links and jobs
 * repeat a call that was not answered. The server ends a statement after the same time.
 */
const answerMsDefault = 10_000;

interface Call<Input, Output> {
  readonly input: Input;
  readonly answer: Promise<Output>;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  /** Resolves as soon as the call is answered. */
  readonly answered: Promise<void>;
  isAnswered: boolean;
}

function createCall<Input, Output>(input: Input, answerMsMax: number): Call<Input, Output> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Output>();
  const timer = setTimeout(() => reject(new AnswerOverdue(answerMsMax)), answerMsMax);
  const end = (): void => {
    clearTimeout(timer);
    call.isAnswered = true;
  };
  const answered = answer.then(end, end);
  const call = { input, answer, resolve, reject, answered, isAnswered: false };
  return call;
}

function open<Input, Output>(calls: readonly Call<Input, Output>[]): Call<Input, Output>[] {
  return calls.filter(({ isAnswered }) => !isAnswered);
}

/**
 * `run` takes up to `sizeMax` inputs and returns one output for each, in their order. Running an
 * input twice must have the same effect as running it once, because a failed batch runs again:
 *
 * - The answer was lost (a broken connection, a silent server): the batch runs once more as a
 *   whole. If that answer is lost too, all its calls are rejected. Run one by one, each call would
 *   wait for the same silent server.
 * - The server refused the batch: its inputs run one by one, so that the failure of one caller does
 *   not fail the others.
 */
export function createBatcher<Input, Output>(options: {
  readonly run: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  /**
   * The most batches in flight at once. Waiting inputs are split among the batches that may start.
   * Without this, callers that were answered together would ask again together, and one batch would
   * carry them all while the others were idle.
   */
  readonly inFlightMax?: number;
  readonly sizeMax?: number;
  /** A call is answered, or rejected, within this time. */
  readonly answerMsMax?: number;
}): Batcher<Input, Output> {
  const { run, inFlightMax = 1, sizeMax = batchSizeMax, answerMsMax = answerMsDefault } = options;
  const waiting: Call<Input, Output>[] = [];
  /**
   * `inFlight`: drain loops, which run until nothing waits. `running`: loops with a batch in
   * flight.
   */
  let inFlight = 0;
  let running = 0;

  /** Runs the calls as one batch. Returns the error if the server's answer to them was lost. */
  async function attempt(
    calls: readonly Call<Input, Output>[],
    isRepeated: boolean,
  ): Promise<{ lost: unknown } | undefined> {
    try {
      const outputs = await run(calls.map(({ input }) => input));
      for (const [index, call] of calls.entries()) {
        const output = outputs[index];
        if (output === undefined)
          call.reject(new Error('a batch returned fewer outputs than inputs'));
        else call.resolve(output);
      }
      return undefined;
    } catch (error) {
      const unanswered = open(calls);
      if (isAnswerLost(error)) {
        if (!isRepeated && unanswered.length > 0) return attempt(unanswered, true);
        for (const call of unanswered) call.reject(error);
        return { lost: error };
      }
      if (calls.length > 1) return oneByOne(unanswered);
      for (const call of unanswered) call.reject(error);
      return undefined;
    }
  }

  /**
   * Stops as soon as the server does not answer. The remaining calls are rejected without being
   * sent.
   */
  async function oneByOne(
    calls: readonly Call<Input, Output>[],
  ): Promise<{ lost: unknown } | undefined> {
    for (const call of calls) {
      if (call.isAnswered) continue;
      const failed = await attempt([call], true);
      if (failed === undefined) continue;
      for (const rest of open(calls)) rest.reject(failed.lost);
      return failed;
    }
    return undefined;
  }

  async function drain(): Promise<void> {
    inFlight += 1;
    // The turn lets all received socket data arrive before a batch starts. That includes the
    // answers to the last batch, whose callers may ask again. Without it batches were half as
    // large.
    await nextTurn();
    while (waiting.length > 0) {
      const share = Math.ceil(waiting.length / (inFlightMax - running));
      const batch = open(waiting.splice(0, Math.min(sizeMax, Math.max(share, batchShareMin))));
      if (batch.length === 0) continue;
      running += 1;
      // The loop goes on when all callers of the batch are answered, even if the batch still runs.
      const answered = Promise.all(batch.map((call) => call.answered));
      await Promise.race([attempt(batch, false), answered]);
      running -= 1;
      await nextTurn();
    }
    inFlight -= 1;
  }

  return {
    call(input) {
      if (waiting.length >= batchWaitingMax) {
        return Promise.reject(
          new BatchOverflow(`${batchWaitingMax} calls already wait for the database`),
        );
      }
      const call = createCall<Input, Output>(input, answerMsMax);
      waiting.push(call);
      if (inFlight < inFlightMax) void drain();
      return call.answer;
    },
  };
}

/** Applies the same limit to a single call: rejects with `AnswerOverdue` after `answerMsMax`. */
export function answeredWithin<Output>(
  answerMsMax: number,
  asked: Promise<Output>,
): Promise<Output> {
  const call = createCall<undefined, Output>(undefined, answerMsMax);
  asked.then(call.resolve, call.reject);
  return call.answer;
}

/** One batcher per store, so that calls to one database share its statements. */
export function perStore<Input, Output>(
  create: (store: Store) => Batcher<Input, Output>,
): (store: Store) => Batcher<Input, Output> {
  const known = new WeakMap<Store, Batcher<Input, Output>>();
  return (store) => {
    const found = known.get(store) ?? create(store);
    known.set(store, found);
    return found;
  };
}
