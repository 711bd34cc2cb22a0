import { type Call, openCalls } from './calls.ts';
import { isAnswerLost } from './errors.ts';

/**
 * `first`: the database has not processed these inputs yet. `repeat`: these inputs were sent
 * before, but the answer was lost. The database may already have processed them.
 */
export type Attempt = 'first' | 'repeat';

/**
 * Takes inputs and returns one output for each, in their order. In a `repeat`, the database may
 * already have processed an input. The function must then return the output that was lost.
 */
export type Run<Input, Output> = (
  inputs: readonly Input[],
  attempt: Attempt,
) => Promise<readonly Output[]>;

interface Lost {
  readonly lost: unknown;
}

/**
 * Runs the calls as one batch and answers them all. If the batch fails:
 *
 * - The answer was lost (a broken connection, a silent server): the batch runs once more as a
 *   whole, as a `repeat`. If the second answer is lost too, all calls are rejected. They do not run
 *   one by one, because each call would then wait for the same silent server.
 * - The server refused the batch: a batch of one input is rejected. The inputs of a larger batch
 *   run one by one, because a refused input must not affect the others. If an answer is then lost,
 *   the remaining inputs are rejected and not sent.
 */
export async function runBatch<Input, Output>(
  run: Run<Input, Output>,
  calls: readonly Call<Input, Output>[],
): Promise<void> {
  await attemptBatch(run, calls, { attempt: 'first', mayRepeat: true });
}

/**
 * Runs the calls as one batch and answers each call. Returns the error if an answer was lost and no
 * repeat got an answer, because `attemptOneByOne` must stop in that case. Otherwise returns
 * undefined, even if the server refused calls.
 */
async function attemptBatch<Input, Output>(
  run: Run<Input, Output>,
  calls: readonly Call<Input, Output>[],
  { attempt, mayRepeat }: { readonly attempt: Attempt; readonly mayRepeat: boolean },
): Promise<Lost | undefined> {
  try {
    const inputs = calls.map(({ input }) => input);
    resolveAll(calls, await run(inputs, attempt));
    return undefined;
  } catch (error) {
    const unanswered = openCalls(calls);
    if (isAnswerLost(error)) {
      if (mayRepeat && unanswered.length > 0)
        return attemptBatch(run, unanswered, { attempt: 'repeat', mayRepeat: false });
      for (const call of unanswered) call.reject(error);
      return { lost: error };
    }
    if (calls.length > 1) return attemptOneByOne(run, unanswered, attempt);
    for (const call of unanswered) call.reject(error);
    return undefined;
  }
}

function resolveAll<Input, Output>(
  calls: readonly Call<Input, Output>[],
  outputs: readonly Output[],
): void {
  for (const [index, call] of calls.entries()) {
    const output = outputs[index];
    if (output === undefined) call.reject(new Error('a batch returned fewer outputs than inputs'));
    else call.resolve(output);
  }
}

/**
 * Runs each unanswered call alone. If an answer is lost, rejects the remaining calls without
 * sending them, and returns the error. Otherwise returns undefined.
 */
async function attemptOneByOne<Input, Output>(
  run: Run<Input, Output>,
  calls: readonly Call<Input, Output>[],
  attempt: Attempt,
): Promise<Lost | undefined> {
  for (const call of calls) {
    if (call.isAnswered) continue;
    const failed = await attemptBatch(run, [call], { attempt, mayRepeat: false });
    if (failed === undefined) continue;
    for (const rest of openCalls(calls)) rest.reject(failed.lost);
    return failed;
  }
  return undefined;
}
