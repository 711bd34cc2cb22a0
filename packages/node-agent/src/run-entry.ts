import type { JournalEntry, Outcome } from './journal.ts';
import { failedOutcome, restarted, restartedBeforeSubmit } from './outcome.ts';

export function endedEntry(outcome: Outcome): JournalEntry & { phase: 'ended' } {
  return { phase: 'ended', submissionId: outcome.submissionId, outcome };
}

/** True if the journal proves that a begun run has submitted nothing. */
export function isUnsubmitted(entry: JournalEntry): boolean {
  return entry.phase === 'begun' && entry.isFenced;
}

/**
 * Turns a `begun` or `submitting` entry into a failure, because a node never begins a submission
 * twice (CONTRACT 5). Returns other entries unchanged.
 */
export function afterRestart(entry: JournalEntry): JournalEntry {
  if (entry.phase === 'assigned' || entry.phase === 'ended') return entry;
  const failure = isUnsubmitted(entry) ? restartedBeforeSubmit : restarted;
  return endedEntry(failedOutcome(entry.submissionId, {}, failure));
}
