import { setImmediate as nextTurn } from 'node:timers/promises';
import { openJournal } from './journal.ts';
import { DirectoryInUse } from './lock.ts';

/**
 * The program of a child process of a test. It opens the journal in the directory that it receives
 * over IPC, and answers `locked` or `in use`.
 */

async function collectGarbage(): Promise<void> {
  // Node.js closes a file when its handle is garbage-collected. One collection can be too early,
  // because a pending promise may still refer to the handle.
  for (let turn = 0; turn < 10; turn += 1) {
    globalThis.gc?.();
    await nextTurn();
  }
  process.send?.('collected');
}

process.on('message', (message: string) => {
  if (message === 'collect garbage') {
    void collectGarbage();
    return;
  }
  // The journal is never closed, so this process keeps the lock until the process ends.
  void openJournal(message).then(
    () => process.send?.('locked'),
    (error: unknown) => {
      if (!(error instanceof DirectoryInUse)) throw error;
      process.send?.('in use');
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
