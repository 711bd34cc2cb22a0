import { checkAccounts } from './accounts.ts';
import { checkEvents } from './events.ts';
import type { History, Verdict } from './history.ts';
import { checkKeys } from './keys.ts';
import { checkSubmissions } from './submissions.ts';

export interface HistoryReport {
  /** The number of records in the history. */
  readonly operations: number;
  readonly verdicts: readonly Verdict[];
  readonly violations: readonly string[];
}

/** Pure: the same history gives the same report. */
export function checkHistory(history: History): HistoryReport {
  const verdicts = [
    checkKeys(history),
    ...checkAccounts(history),
    checkSubmissions(history),
    ...checkEvents(history),
  ];
  const violations = verdicts.flatMap((verdict) =>
    verdict.violations.map((violation) => `${verdict.guarantee}: ${violation}`),
  );
  return { operations: history.length, verdicts, violations };
}

export function describeHistory({ operations, violations }: HistoryReport): string {
  return `history of ${operations} operations, ${violations.length} violations`;
}
