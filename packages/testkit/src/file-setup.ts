import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { closeLeftovers, forgetClosed, recentLogs } from './open-resources.ts';

/**
 * True if a test of the current file has failed. If so, `afterAll` closes open resources but does
 * not report them as a second error.
 */
let hasFailed = false;

// Several test files may share this process, so `hasFailed` is reset before each file.
beforeAll(() => {
  hasFailed = false;
});

beforeEach(forgetClosed);

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  hasFailed = true;
  const logs = recentLogs();
  if (logs !== '') process.stderr.write(`\nThe service logs of the test: ${task.name}\n${logs}\n`);
});

afterAll(async () => {
  const leftovers = await closeLeftovers();
  if (leftovers.length > 0 && !hasFailed)
    throw new Error(`this test file left these open and must close them: ${leftovers.join(', ')}`);
});
