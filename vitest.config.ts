import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';

/** Journeys wait half of their time: for a deadline, a retry, a process that starts. */
const workersPerCore = 2;

export default defineConfig({
  test: {
    include: [
      '{packages,services}/*/src/**/*.test.ts',
      'infra/*/src/**/*.test.ts',
      'prisma/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    setupFiles: ['packages/testkit/src/loopback-only.ts', 'packages/testkit/src/file-setup.ts'],
    // A process per test file: what a file leaves open dies with it and disturbs no other.
    pool: 'forks',
    maxWorkers: workersPerCore * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // A bound for a machine that is busy with other things; a quiet one needs a tenth of it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
