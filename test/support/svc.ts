import {
  bareEnvironment,
  type Ran,
  runSvc,
  runSvcProcess,
  testMasterKey,
  type TestStack,
} from '@svc/testkit';

export interface Svc {
  /**
   * Runs `svc`, if possible in a process that already runs. Resolves with the output and the exit
   * code, also if `svc` fails.
   */
  run(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ran>;
  /** Like `run`, but always in a separate process, as an operator runs `svc`. */
  runProcess(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ran>;
  /** The parsed output of `svc … --json`. If `svc` fails, throws with its exit code and stderr. */
  json<Printed = Record<string, unknown>>(...words: string[]): Promise<Printed>;
  list(...words: string[]): Promise<Record<string, unknown>[]>;
}

export function svcOn(stack: Pick<TestStack, 'databaseUrl' | 'redisUrl'>): Svc {
  const environment = {
    ...bareEnvironment(),
    SVC_ENVIRONMENT: 'sandbox',
    DATABASE_URL: stack.databaseUrl,
    REDIS_URL: stack.redisUrl,
    SVC_MASTER_KEY: testMasterKey(),
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: '1',
  };
  const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runSvc(words, { ...environment, ...env });
  const runProcess = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runSvcProcess(words, { ...environment, ...env });
  const parsed = async (words: readonly string[]) => {
    const { code, stdout, stderr } = await run([...words, '--json']);
    if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  return {
    run,
    runProcess,
    json: (...words) => parsed(words),
    list: (...words) => parsed(words),
  };
}
