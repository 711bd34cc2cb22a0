import { describe, expect, test, vi } from 'vitest';
import { JobFailed } from '../../executor.ts';
import { simulatedExecutor } from './simulated.ts';

const noSubmit = async (): Promise<void> => {};

function runAs(atsType: string, signal = new AbortController().signal) {
  const record = vi.fn<() => void>();
  const startedMs = performance.now();
  const job = {
    submissionId: 'sub_1',
    payloadText: JSON.stringify({ atsType }),
    maxNodeSeconds: 300,
  };
  const ended = simulatedExecutor.run(job, { signal, meter: { record }, submitting: noSubmit });
  return { record, ended, elapsedMs: () => performance.now() - startedMs };
}

describe('the simulated executor', () => {
  test('completes after 1 to 3 s for any other atsType, and meters meanwhile', async () => {
    const { record, ended, elapsedMs } = runAs('greenhouse');
    expect(await ended).toMatchObject({ details: { simulated: true } });
    expect(elapsedMs()).toBeGreaterThan(1_000);
    expect(elapsedMs()).toBeLessThan(3_500);
    expect(record.mock.calls.length).toBeGreaterThanOrEqual(2);
  });

  test('fails with ats_rejected for sandbox.fail', async () => {
    const failure = await runAs('sandbox.fail').ended.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JobFailed);
    expect(failure).toMatchObject({ code: 'ats_rejected' });
  });

  test.each(['sandbox.slow', 'sandbox.lost', 'sandbox.succeed'])(
    'stops at once: %s',
    async (ats) => {
      const controller = new AbortController();
      const { ended, elapsedMs } = runAs(ats, controller.signal);
      controller.abort();
      await expect(ended).rejects.toThrow(/aborted|stopped/);
      expect(elapsedMs()).toBeLessThan(200);
    },
  );

  test('meters nothing for sandbox.lost', async () => {
    const controller = new AbortController();
    const { record, ended } = runAs('sandbox.lost', controller.signal);
    controller.abort();
    await ended.catch(() => {});
    expect(record).not.toHaveBeenCalled();
  });
});
