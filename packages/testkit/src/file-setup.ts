import { afterAll, afterEach, beforeEach } from 'vitest';
import { closeLeftovers, forgetClosed, recentLogs } from './open-resources.ts';

/** Around every test file: shows the services' logs where a test fails, and finds what was left. */
let hasFailed = false;

beforeEach(forgetClosed);

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  hasFailed = true;
  const logs = recentLogs();
  if (logs !== '') process.stderr.write(`\nThe services of: ${task.name}\n${logs}\n`);
});

afterAll(async () => {
  const leftovers = await closeLeftovers();
  if (leftovers.length > 0 && !hasFailed) throw new Error(`left open: ${leftovers.join(', ')}`);
});
