import { openJournal } from './journal.ts';
import { DirectoryInUse } from './lock.ts';

/**
 * A process that receives a directory over IPC, opens its journal, and answers whether it got the
 * lock. It keeps the journal open until it is killed.
 */
process.on('message', (directory: string) => {
  void openJournal(directory).then(
    () => process.send?.('locked'),
    (error: unknown) => {
      if (!(error instanceof DirectoryInUse)) throw error;
      process.send?.('in use');
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
