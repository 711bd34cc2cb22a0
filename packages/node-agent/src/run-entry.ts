import type { JournalEntry, Outcome } from './journal.ts';
import { failedOutcome, restarted, restartedBeforeSubmit } from './outcome.ts';

export function endedEntry(outcome: Outcome): JournalEntry & { phase: 'ended' } {
  return { phase: 'ended', submissionId: outcome.submissionId, outcome };
}

/**
 * True if the journal proves that a begun run has submitted nothing. False in each phase other than
 * `begun`.
 */
export function isUnsubmitted(entry: JournalEntry): boolean {
  return entry.phase === 'begun' && entry.isFenced;
}

/**
 * Ends a run that a previous process has begun, because that process may have acted. The outcome is
 * the failure `node_error` (CONTRACT 5). Other entries stay as they are.
 */
export function afterRestart(entry: JournalEntry): JournalEntry {
  if (entry.phase === 'assigned' || entry.phase === 'ended') return entry;
  const failure = isUnsubmitted(entry) ? restartedBeforeSubmit : restarted;
  return endedEntry(failedOutcome(entry.submissionId, {}, failure));
}
