import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';

/** Journeys wait for part of their time. With two workers a core, no core is idle and each test takes longer. */
const workersPerCore = 1.5;

export default defineConfig({
  test: {
    include: [
      '{packages,services}/*/src/**/*.test.ts',
      'infra/*/src/**/*.test.ts',
      'prisma/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    setupFiles: [
      'packages/testkit/src/unoptimized-wasm.ts',
      'packages/testkit/src/loopback-only.ts',
      'packages/testkit/src/file-setup.ts',
    ],
    // A process per test file: what a file leaves open dies with it and disturbs no other.
    pool: 'forks',
    maxWorkers: Math.ceil(workersPerCore * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // A bound for a machine that is busy with other things; a quiet one needs a tenth of it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
