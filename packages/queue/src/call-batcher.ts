import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Coalesces calls to Redis that wait anyway (docs/decisions/0009): what one turn of the event loop
 * asks for, and what comes while a batch is under way, goes together in the order it was asked for.
 * At one call at a time a batch is that call.
 */
export type CallBatcher<Input, Output> = (input: Input) => Promise<Output>;

/** Calls that wait in memory at most, before a caller is told that there is no room. */
const waitingMax = 10_000;

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * `run` takes up to `sizeMax` inputs, gives as many outputs in their order, and is never under way
 * twice. Where it fails, so do all calls of that batch and all that wait behind it, and none of
 * them is made again: nobody waits longer for a Redis that is silent than for his own command and
 * the one before.
 */
export function createCallBatcher<Input, Output>({
  run,
  sizeMax,
}: {
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
        if (output === undefined) reject(new Error('a batch gave fewer outputs than inputs'));
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
        reject(new Error(`${waitingMax} calls to Redis wait already`));
        return;
      }
      waiting.push({ input, resolve, reject });
      if (!isDraining) void drain();
    });
}
