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
 * For a `begun` or `submitting` entry, returns an `ended` one with the failure `node_error`
 * (CONTRACT 5): a node never begins a submission twice. The failure has `submitted: false` if
 * `isUnsubmitted` is true. Returns other entries unchanged.
 */
export function afterRestart(entry: JournalEntry): JournalEntry {
  if (entry.phase === 'assigned' || entry.phase === 'ended') return entry;
  const failure = isUnsubmitted(entry) ? restartedBeforeSubmit : restarted;
  return endedEntry(failedOutcome(entry.submissionId, {}, failure));
}
