import { randomBytes } from 'node:crypto';
import { compileCache } from '@svc/local';
import { inject } from 'vitest';

/** The values that the global set-up provides to every test file. */
export interface TestServers {
  /** The address of this run's Postgres server, with the account of the superuser. */
  readonly adminUrl: string;
  /** The same address with the role of the services. The migration of the template creates it. */
  readonly serviceUrl: string;
  /** The migrated database that test databases are copied from. */
  readonly template: string;
  /** The master key that seals the secrets in the test databases. */
  readonly masterKey: string;
  /**
   * The directory of the bundles that processes under test start from (see bundles.ts). Undefined
   * if they start from their sources.
   */
  readonly bundles?: string | undefined;
  /**
   * The socket that takes commands of `svc` (see svc-hosts.ts). Undefined if each command has its
   * own process.
   */
  readonly svcSocket?: string | undefined;
  /**
   * Extra environment variables for processes under test. They make each process load the
   * `preloads` of test-servers.ts. A mutation run loads its mutant instead.
   */
  readonly childEnvironment: NodeJS.ProcessEnv;
}

declare module 'vitest' {
  export interface ProvidedContext {
    testServers: TestServers;
  }
}

/** Generates a key in the format of `SVC_MASTER_KEY`. */
export function newMasterKey(): string {
  return `test:${randomBytes(32).toString('base64')}`;
}

/** The values of this run. They exist only with this repository's Vitest configuration. */
export function testServers(): TestServers {
  return inject('testServers');
}

/** The master key of this run, for a store that a test opens itself. */
export function testMasterKey(): string {
  return testServers().masterKey;
}

/**
 * The base environment of processes under test. It has only the variables that any process needs,
 * and none that a developer has set for the services.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), ...testServers().childEnvironment };
}

/**
 * The variables of this process that any process needs, and the variable of Node's compile cache.
 * Processes that are started outside a test get only these.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];
  const given = names.map((name) => [name, process.env[name]]);
  return {
    ...compileCache,
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}
