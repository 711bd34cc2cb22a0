import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchOverflow } from './errors.ts';
import type { Store } from './store.ts';

/**
 * Coalesces calls that wait anyway (DESIGN.md section 6): while one batch runs, whatever arrives
 * becomes the next one, and what one turn of the event loop brings goes together. Nothing waits
 * longer than that turn for the sake of a batch, and at one call at a time a batch is that call.
 */
export interface Batcher<Input, Output> {
  /** The outcome of this input alone. Rejects where its own statement failed. */
  call(input: Input): Promise<Output>;
}

/** How many inputs one statement takes. */
const batchSizeMax = 64;
/** Fewer than this go together: a statement of their own would cost more than their waiting. */
const batchShareMin = 16;
/** Inputs that wait in memory at most, before a caller is told that there is no room. */
export const batchWaitingMax = 10_000;

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `run` takes up to `sizeMax` inputs and gives as many outputs, in their order. A batch that fails
 * as a whole is run again one by one, so that one caller's failure never fails its neighbours; an
 * input must therefore be such that running it again does nothing twice.
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
}): Batcher<Input, Output> {
  const { run, inFlightMax = 1, sizeMax = batchSizeMax } = options;
  const waiting: Waiting<Input, Output>[] = [];
  /** Turns that go on until nothing waits, and those of them that have a batch under way. */
  let inFlight = 0;
  let running = 0;

  async function settle(batch: readonly Waiting<Input, Output>[]): Promise<void> {
    let outputs: readonly Output[];
    try {
      outputs = await run(batch.map(({ input }) => input));
    } catch (error) {
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) return only.reject(error);
      for (const one of batch) await settle([one]);
      return;
    }
    for (const [index, one] of batch.entries()) {
      const output = outputs[index];
      if (output === undefined) one.reject(new Error('a batch gave fewer outputs than inputs'));
      else one.resolve(output);
    }
  }

  async function drain(): Promise<void> {
    inFlight += 1;
    // All that has come in over sockets meanwhile is heard before a batch begins, the answers to
    // the last one too, whose callers may ask again: batches were half as large without.
    await nextTurn();
    while (waiting.length > 0) {
      const share = Math.ceil(waiting.length / (inFlightMax - running));
      running += 1;
      await settle(waiting.splice(0, Math.min(sizeMax, Math.max(share, batchShareMin))));
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
      return new Promise((resolve, reject) => {
        waiting.push({ input, resolve, reject });
        if (inFlight < inFlightMax) void drain();
      });
    },
  };
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
