import { confirmation } from './cutting-server.ts';
import type { Trial, TrialEnd } from './trials.ts';

export function faultsOf(trial: Trial, { sent, received, isCut }: TrialEnd): string[] {
  const faults: string[] = [];
  if (received.length > 1)
    faults.push(`${received.length} submission requests arrived, but at most one may arrive`);
  if (trial.isJournalBroken === true) {
    if (received.length > 0)
      faults.push('a request arrived although the journal could not be written');
    if (sent !== undefined) faults.push('the journal failed, but the fence reports no error');
    return faults;
  }
  if (sent?.kind === 'answered' && sent.bodyText !== confirmation) {
    faults.push('the fence reports an incomplete answer as complete');
  }
  if (sent?.kind === 'nothing_sent' && received.length > 0)
    faults.push('a request arrived, but the fence reports that nothing was sent');
  if (trial.sender === 'moved') {
    if (sent?.kind !== 'unanswered')
      faults.push(
        'the page sent the application to a path that redirects it, but the fence does not report `unanswered`',
      );
  } else if (!isCut && sent?.kind !== 'answered') {
    faults.push(`no connection was cut, but the fence reports ${sent?.kind ?? 'an error'}`);
  }
  return faults;
}
