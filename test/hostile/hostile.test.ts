import { expect, onTestFinished, test } from 'vitest';
import { startDispatching } from '../../services/dispatcher/src/test-fixture.ts';
import { runTrial } from './trial.ts';

const submissions = Number(process.env['HOSTILE_SUBMISSIONS'] ?? 200);
const timeoutMs = 60_000 + submissions * 400;
/** How many payloads may reach a node before it is found not to finish its jobs. */
const payloadsMax = 16;

test(
  'a hostile node moves no price, is charged for at most its caps, and gets few payloads',
  { timeout: timeoutMs },
  async () => {
    const service = await startDispatching({ dispatchers: 2 });
    onTestFinished(() => service.end());
    const report = await runTrial(service, submissions);
    await service.settled();
    const { surgeMaxMicros, surgeByDemandMicros, ...counts } = report;
    process.stdout.write(
      `${JSON.stringify({ ...counts, surgeMax: Number(surgeMaxMicros) / 1e6, surgeByDemand: Number(surgeByDemandMicros) / 1e6 })}\n`,
    );
    expect(surgeMaxMicros).toBeLessThanOrEqual(surgeByDemandMicros);
    expect(report.payloadsBeforeQuarantine).toBeLessThanOrEqual(payloadsMax);
    expect(report.aboveCapCount).toBe(0);
    expect(report.cappedCount).toBeGreaterThan(0);
    expect(report.submitted + report.rejected + report.payloads).toBeGreaterThanOrEqual(
      submissions,
    );
    expect(report.submitted).toBeGreaterThan(submissions / 2);
  },
);
