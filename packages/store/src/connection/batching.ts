import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerOverdue, BatchOverflow, isAnswerLost } from './errors.ts';
import type { Store } from './store.ts';

/**
 * Coalesces calls that wait anyway: calls that arrive while a batch runs form the next batch, and
 * calls of one turn of the event loop go together. A call waits for a batch no longer than that
 * turn. A call that comes alone is a batch of one.
 */
export interface Batcher<Input, Output> {
  /**
   * The outcome of this input alone. Rejects if its statement failed, and with `AnswerOverdue`
   * after `answerMsMax`: then it may have been done, or may yet be done.
   */
  call(input: Input): Promise<Output>;
}

/** How many inputs one statement takes. */
const batchSizeMax = 64;
/** Fewer than this go together: a statement of their own would cost more than their waiting. */
const batchShareMin = 16;
/** Inputs that wait in memory at most, before a caller is told that there is no room. */
export const batchWaitingMax = 10_000;
/**
 * A call is answered within this time unless its batcher has another limit. Node links and jobs
 * repeat what was not answered. The server ends a statement after the same time.
 */
const answerMsDefault = 10_000;

interface Call<Input, Output> {
  readonly input: Input;
  readonly answer: Promise<Output>;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  /** Resolves as soon as it is answered. */
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
 * `run` takes up to `sizeMax` inputs and gives as many outputs, in their order. An input must be
 * such that running it again does nothing twice, because a failed batch runs again:
 *
 * - The answer was lost (a broken connection, a silent server): the batch runs once more as a
 *   whole. If that answer is lost too, all its calls are rejected. One by one, each call would wait
 *   for the same silence.
 * - The server refused it: its inputs run one by one, so that one caller's failure does not fail
 *   its neighbours.
 */
export function createBatcher<Input, Output>(options: {
  readonly run: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  /**
   * Batches under way at once. What waits is shared out among those that may begin: otherwise
   * callers that were answered together ask again together, and one batch carries them all while
   * the others have nothing to do.
   */
  readonly inFlightMax?: number;
  readonly sizeMax?: number;
  /** A call is answered, or rejected, within this time. */
  readonly answerMsMax?: number;
}): Batcher<Input, Output> {
  const { run, inFlightMax = 1, sizeMax = batchSizeMax, answerMsMax = answerMsDefault } = options;
  const waiting: Call<Input, Output>[] = [];
  /** Turns that go on until nothing waits, and those of them that have a batch under way. */
  let inFlight = 0;
  let running = 0;

  /** Answers the calls. Returns the error if the server's answer to them was lost. */
  async function attempt(
    calls: readonly Call<Input, Output>[],
    isRepeated: boolean,
  ): Promise<{ lost: unknown } | undefined> {
    try {
      const outputs = await run(calls.map(({ input }) => input));
      for (const [index, call] of calls.entries()) {
        const output = outputs[index];
        if (output === undefined) call.reject(new Error('a batch gave fewer outputs than inputs'));
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

  /** Stops as soon as the server does not answer: the rest are rejected without being asked. */
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
    // All that has come in over sockets meanwhile is heard before a batch begins, the answers to
    // the last one too, whose callers may ask again: batches were half as large without.
    await nextTurn();
    while (waiting.length > 0) {
      const share = Math.ceil(waiting.length / (inFlightMax - running));
      const batch = open(waiting.splice(0, Math.min(sizeMax, Math.max(share, batchShareMin))));
      if (batch.length === 0) continue;
      running += 1;
      // A batch whose callers have all been answered holds up no other, even if it still runs.
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
        return Promise.reject(new BatchOverflow(`${batchWaitingMax} calls wait already`));
      }
      const call = createCall<Input, Output>(input, answerMsMax);
      waiting.push(call);
      if (inFlight < inFlightMax) void drain();
      return call.answer;
    },
  };
}

/** What is asked alone, with the same limit: rejects with `AnswerOverdue` after `answerMsMax`. */
export function answeredWithin<Output>(
  answerMsMax: number,
  asked: Promise<Output>,
): Promise<Output> {
  const call = createCall<undefined, Output>(undefined, answerMsMax);
  asked.then(call.resolve, call.reject);
  return call.answer;
}

/** One batcher a store: what waits for one database shares its statements. */
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
