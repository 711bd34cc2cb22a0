import { channel } from 'node:diagnostics_channel';
import { type SharedStatement, sharedStatements } from '@svc/domain';
import type { Run } from './batch-run.ts';

export interface Shared<Input> {
  readonly intent: SharedStatement['intent'];
  readonly submissionIdOf: (input: Input) => string;
}

const statements = channel(sharedStatements);

/**
 * Returns `run` with an addition: each successful batch of two or more inputs is reported on a
 * diagnostics channel. Without `shared` or a subscriber, nothing is reported.
 */
export function reported<Input, Output>(
  shared: Shared<Input> | undefined,
  run: Run<Input, Output>,
): Run<Input, Output> {
  if (shared === undefined) return run;
  return (inputs, attempt) => {
    if (!statements.hasSubscribers || inputs.length < 2) return run(inputs, attempt);
    return report(shared, inputs, () => run(inputs, attempt));
  };
}

async function report<Input, Output>(
  { intent, submissionIdOf }: Shared<Input>,
  inputs: readonly Input[],
  run: () => Promise<Output>,
): Promise<Output> {
  const startedMs = performance.now();
  const outputs = await run();
  const message: SharedStatement = {
    intent,
    submissionIds: inputs.map(submissionIdOf),
    durationMs: performance.now() - startedMs,
  };
  statements.publish(message);
  return outputs;
}
