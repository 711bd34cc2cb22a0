import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ExecutionContext, type Executor, JobFailed, type MeteredUsage } from './executor.ts';

/** Simulated work: so many steps of so long, after each of which it meters. */
interface Work {
  readonly steps: number;
  readonly stepMs: number;
}

const stepMs = 400;
const succeedStepsMin = 3;
const succeedStepsMax = 7;
const fail: Work = { steps: 2, stepMs };
const slow: Work = { steps: 12, stepMs: 5_000 };
/** Often enough that even a short run is seen to be metered. */
const usageIntervalMs = 200;

/** What filling in a form takes. */
function usageAfter(seconds: number): MeteredUsage {
  return {
    cpuSeconds: seconds * 0.4,
    memoryGbSeconds: seconds * 0.5,
    bandwidthMb: seconds * 1.5,
    actions: Math.ceil(seconds * 4),
  };
}

async function work({ steps, stepMs: ms }: Work, context: ExecutionContext): Promise<void> {
  const { signal, meter } = context;
  for (let step = 1; step <= steps; step += 1) {
    await sleep(ms, undefined, { signal });
    meter.record(usageAfter((step * ms) / 1000));
  }
}

async function fallSilent(signal: AbortSignal): Promise<never> {
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
 * Obeys `atsType` instead of applying anywhere (CONTRACT section 7); for the sandbox only.
 * `sandbox.decline` is told from the offer's `sandboxBehaviour`: an offer has no payload in it.
 */
export const simulatedExecutor: Executor = {
  jobType: 'ats.application',
  usageIntervalMs,
  consider: ({ sandboxBehaviour }) =>
    sandboxBehaviour === 'sandbox.decline' ? 'policy' : undefined,
  async run(payload, context) {
    switch (atsTypeOf(payload)) {
      case 'sandbox.fail':
        await work(fail, context);
        throw new JobFailed('ats_rejected', 'The simulated system rejected the application.');
      case 'sandbox.lost':
        return await fallSilent(context.signal);
      case 'sandbox.slow':
        await work(slow, context);
        break;
      default:
        await work({ steps: randomInt(succeedStepsMin, succeedStepsMax + 1), stepMs }, context);
    }
    return { confirmationId: `SIM-${randomInt(1e9)}`, details: { simulated: true } };
  },
};
