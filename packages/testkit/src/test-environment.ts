import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';

/** What the global set-up hands to every test file. */
export interface TestServers {
  /** The superuser's way into the Postgres server of this run. */
  readonly adminUrl: string;
  /** The way of the services' role, which exists once the template is migrated. */
  readonly serviceUrl: string;
  /** The migrated database that test databases are copied from. */
  readonly template: string;
  /** The key under which everything in the test databases is sealed. */
  readonly masterKey: string;
  /**
   * The directory of bundles that processes under test start from (see bundles.ts). Undefined if
   * they start from their sources.
   */
  readonly bundles?: string | undefined;
  /** Added to the environment of processes under test. A mutation run loads its mutant with it. */
  readonly childEnvironment: NodeJS.ProcessEnv;
}

declare module 'vitest' {
  export interface ProvidedContext {
    testServers: TestServers;
  }
}

/** `SVC_MASTER_KEY` in the form that services take it. */
export function newMasterKey(): string {
  return `test:${randomBytes(32).toString('base64')}`;
}

/** Throws where the test does not run under this repository's vitest configuration. */
export function testServers(): TestServers {
  return inject('testServers');
}

/** The master key of this run, for a store that a test opens by itself. */
export function testMasterKey(): string {
  return testServers().masterKey;
}

/**
 * The environment that processes under test start from: what a process needs to run at all, and
 * nothing of what the developer has set for the services.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), ...testServers().childEnvironment };
}

/** The same for processes that are started outside a test. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LD_LIBRARY_PATH'];
  return Object.fromEntries(
    names.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
  );
}
