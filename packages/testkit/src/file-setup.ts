import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { closeLeftovers, forgetClosed, recentLogs } from './open-resources.ts';

/**
 * Runs around every test file. Shows the services' logs if a test fails, and finds open resources.
 */
let hasFailed = false;

// Files may share a process.
beforeAll(() => {
  hasFailed = false;
});

beforeEach(forgetClosed);

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  hasFailed = true;
  const logs = recentLogs();
  if (logs !== '') process.stderr.write(`\nThe logs of the services of: ${task.name}\n${logs}\n`);
});

afterAll(async () => {
  const leftovers = await closeLeftovers();
  if (leftovers.length > 0 && !hasFailed) throw new Error(`left open: ${leftovers.join(', ')}`);
});
