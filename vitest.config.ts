import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';

/**
 * The number of test processes for each core. Two processes keep a core busy, because many tests
 * spend part of their time waiting. But each test takes longer.
 */
const workersPerCore = 2;

/** These files replace a module, so each needs its own process. */
const replaceModules = [
  'packages/node-agent/src/history.test.ts',
  'packages/node-agent/src/journal.test.ts',
  'packages/signing/src/unknown-key.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: [
            '{packages,services}/*/src/**/*.test.ts',
            'infra/*/src/**/*.test.ts',
            'prisma/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...replaceModules],
          // The files of a worker share its process, which saves half a second of CPU for each
          // file. Each file must therefore close what it opens (file-setup.ts).
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: replaceModules } },
    ],
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    setupFiles: [
      'packages/testkit/src/unoptimized-wasm.ts',
      'packages/testkit/src/loopback-only.ts',
      'packages/testkit/src/file-setup.ts',
    ],
    pool: 'forks',
    maxWorkers: Math.ceil(workersPerCore * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // The bound of 120 s allows for a busy machine. A quiet machine needs a tenth of this time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
  },
});
