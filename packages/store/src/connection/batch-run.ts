import { type Call, openCalls } from './calls.ts';
import { isAnswerLost } from './errors.ts';

/**
 * In a `repeat`, the database may have processed an input already. The input then gets the same
 * output again, or one that shows that the repeat changed nothing.
 */
export type Attempt = 'first' | 'repeat';

/**
 * Returns one output for each input, in the order of the inputs. In a `repeat`, no input may take
 * effect a second time (`Attempt`).
 */
export type Run<Input, Output> = (
  inputs: readonly Input[],
  attempt: Attempt,
) => Promise<readonly Output[]>;

interface Lost {
  readonly lost: unknown;
}

/**
 * Answers all calls. A batch whose answer was lost runs once more. The inputs of a refused batch
 * run one by one, so that a refused input affects no other.
 */
export async function runBatch<Input, Output>(
  run: Run<Input, Output>,
  calls: readonly Call<Input, Output>[],
): Promise<void> {
  await attemptBatch(run, calls, { attempt: 'first', mayRepeat: true });
}

/**
 * Resolves or rejects all calls. If the answer to the last attempt was lost, returns the error, so
 * that `attemptOneByOne` stops.
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
      // Rejects all calls together. If they ran one by one, each could wait for the same silent
      // server.
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
