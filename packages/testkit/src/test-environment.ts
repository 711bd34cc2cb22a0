import { randomBytes } from 'node:crypto';
import { compileCache } from '@svc/local';
import { inject } from 'vitest';

export interface TestServers {
  /** The address of this run's Postgres server, with the account of the superuser. */
  readonly adminUrl: string;
  /**
   * The address of this run's Postgres server, with the role of the services. The migration of the
   * template database creates this role.
   */
  readonly serviceUrl: string;
  readonly template: string;
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
   * Extra environment variables for processes under test. They make Node.js load the `preloads` of
   * test-servers.ts, or in `pnpm mutate` the preload that replaces a file.
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

/**
 * Returns the servers of this test run. They exist only under this repository's Vitest
 * configuration.
 */
export function testServers(): TestServers {
  return inject('testServers');
}

export function testMasterKey(): string {
  return testServers().masterKey;
}

/**
 * The environment of processes under test. It has no variable that a developer has set for the
 * services.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), ...testServers().childEnvironment };
}

/**
 * The environment variables of this process that any process needs, and the variable of Node's
 * compile cache. The other variables of this process are left out.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];
  const given = names.map((name) => [name, process.env[name]]);
  return {
    ...compileCache,
    ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  };
}
