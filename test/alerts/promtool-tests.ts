import { stringify } from 'yaml';
import { type AlertCase, alertCases } from './cases.ts';

const shortMinutes = 25;
// With shorter steps, promtool would need minutes for each simulated day.
const longStepMinutes = 30;

export interface PromtoolTests {
  readonly name: string;
  readonly text: string;
  readonly count: number;
}

/**
 * Returns two files of tests. The second has the tests that simulate more than two hours, in longer
 * steps.
 */
export function promtoolTests(ruleFiles: readonly string[]): PromtoolTests[] {
  const cases = Object.entries(alertCases).flatMap(([alert, some]) =>
    [some].flat().map((one) => [alert, one] as const),
  );
  return [
    testFile(
      'short',
      ruleFiles,
      1,
      cases.filter(([, one]) => !isLong(one)),
    ),
    testFile(
      'long',
      ruleFiles,
      longStepMinutes,
      cases.filter(([, one]) => isLong(one)),
    ),
  ];
}

function isLong({ hours = 0 }: AlertCase): boolean {
  return hours > 2;
}

function testFile(
  name: string,
  ruleFiles: readonly string[],
  stepMinutes: number,
  cases: readonly (readonly [string, AlertCase])[],
): PromtoolTests {
  const tests = cases.flatMap(([alert, one]) => [
    promtoolTest(alert, one, stepMinutes, true),
    promtoolTest(alert, one, stepMinutes, false),
  ]);
  const file = { rule_files: ruleFiles, evaluation_interval: `${stepMinutes}m`, tests };
  return { name, text: stringify(file), count: tests.length };
}

function promtoolTest(alert: string, one: AlertCase, stepMinutes: number, isFiring: boolean) {
  const { series, hours } = one;
  const minutes = hours === undefined ? shortMinutes : hours * 60;
  const labels = `{alertname="${alert}"}`;
  const firing = `ALERTS{alertname="${alert}",alertstate="firing"}`;
  const steps = Math.ceil(minutes / stepMinutes) + 1;
  return {
    name: `${alert} ${isFiring ? 'fires' : 'does not fire in a quiet service'}`,
    interval: `${stepMinutes}m`,
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name,
      values: repeated(values[isFiring ? 0 : 1], steps),
    })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (${isFiring ? firing : `count_over_time(${firing}[${minutes}m])`}) > bool 0`,
        eval_time: `${minutes}m`,
        exp_samples: isFiring ? [{ labels, value: 1 }] : [],
      },
    ],
  };
}

/** The notation of promtool for a value that is repeated or grows: `0+5x25`. */
function repeated(values: string, steps: number): string {
  return `${values}${values.includes('+') ? '' : '+0'}x${steps}`;
}
