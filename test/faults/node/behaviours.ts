import { setTimeout as sleep } from 'node:timers/promises';
import { type ExecutionContext, JobFailed } from '@svc/node-agent';

interface Work {
  readonly steps: number;
  readonly stepMs: number;
  readonly actionsPerStep: number;
}

/** The work of a job, by the `atsType` of the payload. `behave` handles the other types. */
const works: Readonly<Record<string, Work>> = {
  'faults.quick': { steps: 1, stepMs: 30, actionsPerStep: 2 },
  'faults.work': { steps: 4, stepMs: 120, actionsPerStep: 5 },
  'faults.slow': { steps: 5, stepMs: 600, actionsPerStep: 7 },
  // The reported 800 actions would cost more than the hold. The service cuts the actions to the
  // cap of the short run, so the charge is usually lower than the hold.
  'faults.costly': { steps: 2, stepMs: 80, actionsPerStep: 400 },
};

/** Works as `behaviour` says. Throws if the job fails or is stopped. */
export async function behave(behaviour: string, context: ExecutionContext): Promise<void> {
  const { signal, meter } = context;
  if (behaviour === 'faults.lost') {
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
  }
  if (behaviour === 'faults.fail') {
    await sleep(60, undefined, { signal });
    throw new JobFailed(
      'ats_rejected',
      'The employer rejected the application, as the test requested.',
    );
  }
  const { steps, stepMs, actionsPerStep } = works[behaviour] ?? {
    steps: 1,
    stepMs: 30,
    actionsPerStep: 1,
  };
  for (let step = 1; step <= steps; step += 1) {
    await sleep(stepMs, undefined, { signal });
    meter.record({
      actions: step * actionsPerStep,
      bandwidthMb: step * 0.5,
      cpuSeconds: step * 0.25,
    });
  }
}
