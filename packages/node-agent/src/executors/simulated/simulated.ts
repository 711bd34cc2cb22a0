import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { simulatedExecutorName } from '@svc/contracts';
import {
  type ExecutionContext,
  type Executor,
  JobFailed,
  type MeteredUsage,
} from '../../executor.ts';
import { failureMessages, type SandboxOptions, sandboxOptionsOf } from './sandbox-options.ts';

interface Work {
  readonly steps: number;
  readonly stepMs: number;
}

const stepMs = 400;
const succeedStepsMin = 3;
const succeedStepsMax = 7;
const fail: Work = { steps: 2, stepMs };
const slow: Work = { steps: 12, stepMs: 5_000 };
/** The interval of usage reports. The default of 5 s is longer than many runs. */
const usageIntervalMs = 200;

function usageAfter(seconds: number): MeteredUsage {
  return {
    cpuSeconds: seconds * 0.4,
    memoryGbSeconds: seconds * 0.5,
    bandwidthMb: seconds * 1.5,
    actions: Math.ceil(seconds * 4),
  };
}

/**
 * The fewest steps of `ms` milliseconds after which the cap allows `actions` (CONTRACT 7). Zero or
 * negative if the cap allows `actions` at once.
 */
function stepsFor(actions: number | undefined, ms: number): number {
  return Math.ceil((((actions ?? 0) - 100) / 50) * (1_000 / ms));
}

async function work(
  { steps, stepMs: ms }: Work,
  { signal, meter }: ExecutionContext,
  { actions, ignoresCancel }: SandboxOptions,
): Promise<void> {
  const stepsInAll = Math.max(steps, stepsFor(actions, ms));
  for (let step = 1; step <= stepsInAll; step += 1) {
    try {
      await sleep(ms, undefined, { signal });
    } catch (error) {
      if (!ignoresCancel) throw error;
      return;
    }
    const usage = usageAfter((step * ms) / 1000);
    const done =
      actions === undefined ? {} : { actions: Math.floor((actions * step) / stepsInAll) };
    meter.record({ ...usage, ...done });
  }
}

async function hang(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function atsTypeOf(payload: unknown): string {
  const isObject = typeof payload === 'object' && payload !== null && 'atsType' in payload;
  return isObject ? String(payload.atsType) : '';
}

/**
 * The executor for sandboxes. It behaves as `atsType` of the payload says, and sends no application
 * (CONTRACT 7).
 */
export const simulatedExecutor: Executor = {
  jobType: 'ats.application',
  name: simulatedExecutorName,
  version: '1',
  usageIntervalMs,
  consider: ({ sandboxBehaviour }) =>
    sandboxBehaviour === 'sandbox.decline' ? 'policy' : undefined,
  async run({ payloadText }, context) {
    const payload: unknown = JSON.parse(payloadText);
    const options = sandboxOptionsOf(payload);
    switch (atsTypeOf(payload)) {
      case 'sandbox.fail':
        await work(fail, context, options);
        throw new JobFailed(options.failure, failureMessages[options.failure]);
      case 'sandbox.lost':
        return await hang(context.signal);
      case 'sandbox.slow':
        await work(slow, context, options);
        break;
      default:
        await work(
          { steps: randomInt(succeedStepsMin, succeedStepsMax + 1), stepMs },
          context,
          options,
        );
    }
    return { confirmationId: `SIM-${randomInt(1e9)}`, details: { simulated: true } };
  },
};
