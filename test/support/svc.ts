import { execFile } from 'node:child_process';
import { adminCliEntry } from '@svc/local';
import { bareEnvironment, entryUnderTest, testMasterKey, type TestStack } from '@svc/testkit';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Svc {
  /** Runs `svc` in a separate process, as an operator would. Resolves with any exit code. */
  run(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ran>;
  /** The output of `svc … --json`. Throws with the error message if `svc` refuses. */
  json<Printed = Record<string, unknown>>(...words: string[]): Promise<Printed>;
  list(...words: string[]): Promise<Record<string, unknown>[]>;
}

/** `svc` on a running stack. */
export function svcOn(stack: Pick<TestStack, 'databaseUrl' | 'redisUrl'>): Svc {
  const environment = {
    ...bareEnvironment(),
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: stack.databaseUrl,
    REDIS_URL: stack.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
  };
  const entry = entryUnderTest(adminCliEntry);
  const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
    new Promise((resolve) => {
      const options = { env: { ...environment, ...env }, maxBuffer: 64 * 1024 * 1024 };
      execFile(process.execPath, [entry, ...words], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  const parsed = async (words: readonly string[]) => {
    const { code, stdout, stderr } = await run([...words, '--json']);
    if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  return { run, json: (...words) => parsed(words), list: (...words) => parsed(words) };
}
