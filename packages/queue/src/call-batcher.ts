import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Combines waiting calls to Redis into batches, because one message with many calls costs less than
 * many messages. The order of the calls is kept.
 */
export type CallBatcher<Input, Output> = (input: Input) => Promise<Output>;

/** The most calls that wait in memory. Further calls are rejected. */
const waitingMax = 10_000;

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * If `run` fails, the calls of its batch fail, and all waiting calls fail too, so that none waits
 * for a second time-out of Redis. Nothing is retried.
 */
export function createCallBatcher<Input, Output>({
  run,
  sizeMax,
}: {
  /** Returns one output for each input, in the same order. Called for one batch at a time. */
  readonly run: (inputs: readonly Input[]) => Promise<readonly Output[]>;
  readonly sizeMax: number;
}): CallBatcher<Input, Output> {
  const waiting: Waiting<Input, Output>[] = [];
  let isDraining = false;

  async function settle(batch: readonly Waiting<Input, Output>[]): Promise<void> {
    try {
      const outputs = await run(batch.map(({ input }) => input));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const output = outputs[index];
        if (output === undefined)
          reject(new Error('a batch of Redis calls returned too few results'));
        else resolve(output);
      }
    } catch (error) {
      for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
    }
  }

  async function drain(): Promise<void> {
    isDraining = true;
    await nextTurn();
    while (waiting.length > 0) await settle(waiting.splice(0, sizeMax));
    isDraining = false;
  }

  return (input) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax) {
        reject(new Error(`the limit of ${waitingMax} waiting calls to Redis is reached`));
        return;
      }
      waiting.push({ input, resolve, reject });
      if (!isDraining) void drain();
    });
}
