import { afterAll, afterEach } from 'vitest';
import { closeLeftovers, openLogs } from './open-resources.ts';

let failed = false;

/** Around every test file: shows the services' logs where a test fails, and finds what was left. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  failed = true;
  const logs = openLogs();
  if (logs !== '') process.stderr.write(`\n${task.name}\n${logs}\n`);
});

afterAll(async () => {
  const leftovers = await closeLeftovers();
  if (leftovers.length > 0 && !failed) throw new Error(`left open: ${leftovers.join(', ')}`);
});
