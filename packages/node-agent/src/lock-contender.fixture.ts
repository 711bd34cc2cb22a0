import { openJournal } from './journal.ts';
import { DirectoryInUse } from './lock.ts';

/**
 * A process that opens the journal of a directory when it is told which, says over IPC whether it
 * got it, and then holds it until it is killed.
 */
process.on('message', (directory: string) => {
  void openJournal(directory).then(
    () => process.send?.('held'),
    (error: unknown) => {
      if (!(error instanceof DirectoryInUse)) throw error;
      process.send?.('in use');
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
