import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Each process of a soak loads this file before the process's own code. At SIGUSR2 this file runs
 * the garbage collector. It then writes the number of bytes that V8 still uses (`heapUsed` and
 * `external`) into the file that `FAULTS_MEMORY_FILE` names.
 *
 * Without this collection, the number would include garbage: an idle process may run for more than
 * an hour without a collection.
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
