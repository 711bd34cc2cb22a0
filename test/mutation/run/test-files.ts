import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestServers } from '@svc/testkit';
import { createVitest, type TestModule, type TestProject, type Vitest } from 'vitest/node';
import { isTimeout } from './plan.ts';
import { withNotes } from './reach.ts';

export const checkout = path.resolve(import.meta.dirname, '../../..');

export const serversVariable = 'MUTATION_SERVERS';

export interface OtherText {
  readonly file: string;
  readonly text: string;
}

export interface FileEnd {
  readonly kind: 'passed' | 'failed' | 'timeout';
  /**
   * The failure of the first failed test, or else the error that made the file fail. Empty if the
   * file passed.
   */
  readonly failure: string;
  readonly durationMs: number;
}

export interface TestFiles {
  /** `change` replaces one source file. With undefined, nothing is replaced. */
  run(testFile: string, change: OtherText | undefined, options: RunOptions): Promise<FileEnd>;
  close(): Promise<void>;
}

interface RunOptions {
  readonly servers: TestServers;
  /**
   * The path of the file to which `setup.ts` writes the `Reach`, or an empty string to record
   * nothing.
   */
  readonly reachFile: string;
  /** The path of the file with the `Plan` of `PlanRunner`, or an empty string. */
  readonly planFile: string;
}

/**
 * The timeout of one test or hook. It is short, because a mutant can make a test hang. The longer
 * timeout in vitest.config.ts allows for a busy machine.
 */
const testTimeoutMs = 30_000;
const ownCode =
  /^(?:packages|services)\/[^/]+\/src\/(?!generated\/)(?!.*(?:\.test|[.-]fixture)\.ts$).*\.ts$/;

/**
 * Starts vitest once for all runs. Vitest keeps the loaded source files. A run loads at most two of
 * them again: the file that it changes, and the file that the previous run changed.
 */
export async function openTestFiles(): Promise<TestFiles> {
  let current: OtherText | undefined;
  let isPlanned = false;
  const plugin = {
    name: 'mutant',
    enforce: 'pre' as const,
    load(id: string) {
      const file = path.relative(checkout, id.replace(/\?.*$/, ''));
      if (!ownCode.test(file)) return undefined;
      if (current?.file !== file)
        return withNotes(file, readFileSync(path.join(checkout, file), 'utf8'));
      return isPlanned ? current.text : withNotes(file, current.text);
    },
  };
  const vitest = await createVitest(
    {
      root: checkout,
      config: false,
      watch: false,
      include: ['{packages,services,infra}/*/src/**/*.test.ts', '{prisma,test}/**/*.test.ts'],
      setupFiles: [
        path.join(import.meta.dirname, 'setup.ts'),
        path.join(checkout, 'packages/testkit/src/file-setup.ts'),
      ],
      runner: path.join(import.meta.dirname, 'plan-runner.ts'),
      pool: 'forks',
      // The disk cache does not notice that the plugin replaces the text of a file.
      fsModuleCache: false,
      reporters: [{}],
      maxWorkers: 1,
      testTimeout: testTimeoutMs,
      hookTimeout: testTimeoutMs,
      globalSetup: [path.join(import.meta.dirname, 'provide-servers.ts')],
    },
    { plugins: [plugin] },
  );
  const project = vitest.getRootProject();
  return {
    async run(testFile, change, options) {
      for (const changed of [current, change])
        if (changed !== undefined) vitest.invalidateFile(path.join(checkout, changed.file));
      current = change;
      isPlanned = options.planFile !== '';
      return runOne(vitest, project, testFile, options);
    },
    close: () => vitest.close(),
  };
}

async function runOne(
  vitest: Vitest,
  project: TestProject,
  testFile: string,
  { servers, reachFile, planFile }: RunOptions,
): Promise<FileEnd> {
  const specifications = await vitest.globTestSpecifications([path.join(checkout, testFile)]);
  if (specifications.length !== 1)
    throw new Error(
      `exactly one test file must match ${testFile}, but ${specifications.length} do`,
    );
  project.provide('testServers', servers);
  project.provide('mutationReachFile', reachFile);
  project.provide('mutationPlanFile', planFile);
  const beganAt = performance.now();
  vitest.state.clearErrors();
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const durationMs = performance.now() - beganAt;
  const own = testModules.find(({ moduleId }) => moduleId === specifications[0]?.moduleId);
  const failure =
    own === undefined ? 'Vitest did not run the file' : failureOf(own, unhandledErrors);
  if (failure === undefined) return { kind: 'passed', failure: '', durationMs };
  const kind = isTimeout.test(failure) ? 'timeout' : 'failed';
  return { kind, failure, durationMs };
}

function failureOf(own: TestModule, unhandled: readonly unknown[]): string | undefined {
  for (const test of own.children.allTests('failed'))
    return `${test.fullName}: ${messageOf(test.result().errors?.[0])}`;
  const errors = [
    ...own.errors(),
    ...[...own.children.allSuites()].flatMap((suite) => suite.errors()),
  ];
  const first = errors[0] ?? unhandled[0];
  if (first !== undefined) return messageOf(first);
  return own.state() === 'failed' ? 'the file failed' : undefined;
}

function messageOf(error: unknown): string {
  const message =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : error;
  return String(message).split('\n')[0] ?? '';
}
