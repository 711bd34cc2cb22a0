import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * At SIGUSR2, the process collects its garbage. Then it writes to this file how many bytes its
 * objects still use, in V8's heap and outside it.
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
