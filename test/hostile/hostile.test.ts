import { expect, onTestFinished, test } from 'vitest';
import { startDispatching } from '../../services/dispatcher/src/dispatcher.fixture.ts';
import { runTrial } from './trial.ts';

const submissions = Number(process.env['HOSTILE_SUBMISSIONS'] ?? 200);
const timeoutMs = 60_000 + submissions * 400;
/** The most payloads that the hostile node may get before its first quarantine. */
const payloadsMax = 16;
/**
 * Two steps of the surge multiplier. On a slow machine, some submissions are offered to a second
 * node too, and these offers can move the multiplier by this much.
 */
const surgeNoiseMicros = 100_000n;

test(
  'a hostile node moves no price, is charged for at most its caps, and gets few payloads',
  { timeout: timeoutMs },
  async () => {
    const service = await startDispatching({ dispatchers: 2 });
    onTestFinished(() => service.end());
    const report = await runTrial(service, submissions);
    await service.settled();
    const { surgeBeforeMicros, surgeMicros, ...counts } = report;
    const surge = {
      surgeBefore: Number(surgeBeforeMicros) / 1e6,
      surge: Number(surgeMicros) / 1e6,
    };
    process.stdout.write(`${JSON.stringify({ ...counts, ...surge })}\n`);
    expect(surgeMicros).toBeLessThanOrEqual(surgeBeforeMicros + surgeNoiseMicros);
    expect(report.slotsTakenByNobody).toBe(0);
    expect(report.payloadsBeforeQuarantine).toBeLessThanOrEqual(payloadsMax);
    expect(report.aboveCapCount).toBe(0);
    expect(report.cappedCount).toBeGreaterThan(0);
    expect(report.submitted + report.rejected + report.sunk).toBe(submissions);
    expect(report.sunk).toBeLessThan(report.payloads);
    expect(report.submitted).toBeGreaterThan(submissions / 2);
  },
);
