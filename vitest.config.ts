import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';

/** Journeys wait for part of their time. With two workers a core, no core is idle and each test takes longer. */
const workersPerCore = 1.5;

/**
 * Rooms whose tests run the product inside the test's process. Their files share the processes of
 * the workers, which saves half a second of CPU a file: each process loads the modules once.
 */
const inProcess = [
  '{packages,services}/!(admin-cli|node-agent|testkit)/src/**/*.test.ts',
  'prisma/**/*.test.ts',
  'test/architecture/**/*.test.ts',
];
/** These replace a module, so each needs its own process. */
const ownModules = ['packages/signing/src/unknown-key.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'in process', include: inProcess, exclude: ownModules, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: [
            ...ownModules,
            'packages/{admin-cli,node-agent,testkit}/src/**/*.test.ts',
            'infra/*/src/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: ['test/architecture/**'],
        },
      },
    ],
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    setupFiles: [
      'packages/testkit/src/unoptimized-wasm.ts',
      'packages/testkit/src/loopback-only.ts',
      'packages/testkit/src/file-setup.ts',
    ],
    // A file that starts processes has its own process: what it leaves open dies with it.
    pool: 'forks',
    maxWorkers: Math.ceil(workersPerCore * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // A bound for a machine that is busy with other things; a quiet one needs a tenth of it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
