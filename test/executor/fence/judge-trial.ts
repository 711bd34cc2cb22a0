import { confirmation } from './cutting-server.ts';
import type { Trial, TrialEnd } from './trials.ts';

/** The promises of the fence that a trial broke, in words. */
export function faultsOf(trial: Trial, { sent, received, isCut }: TrialEnd): string[] {
  const faults: string[] = [];
  if (received.length > 1) faults.push(`${received.length} submission requests arrived`);
  if (trial.isJournalBroken === true) {
    if (received.length > 0) faults.push('a request left before the journal was written');
    if (sent !== undefined) faults.push('the fence hides that the journal cannot be written');
    return faults;
  }
  if (sent?.kind === 'answered' && sent.bodyText !== confirmation) {
    faults.push('an answer that is not whole counts as one');
  }
  if (sent?.kind === 'nothing_sent' && received.length > 0) faults.push('a request left unnoticed');
  if (trial.sender === 'moved') {
    if (sent?.kind !== 'unanswered')
      faults.push('a redirect that repeats the application is believed');
  } else if (!isCut && sent?.kind !== 'answered') {
    faults.push(`a whole answer is lost: ${sent?.kind ?? 'rejected'}`);
  }
  return faults;
}
