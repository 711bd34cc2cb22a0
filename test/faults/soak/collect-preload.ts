import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into each process of a soak before its own code: at SIGUSR2 it collects what nobody holds any
 * more and writes into its file what is left, in bytes. Without it a figure of memory tells how long
 * a collector of garbage has waited, not what a process needs: one that has little to do waits for
 * more than an hour.
 */
const file = process.env['FAULTS_MEMORY_FILE'];
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

process.on('SIGUSR2', () => {
  if (file === undefined || typeof collect !== 'function') return;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, `${heapUsed + external}`);
  renameSync(`${file}.new`, file);
});
