import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { redisBinary, startPostgres } from '@svc/local';
import { makeTemplate } from './template-database.ts';
import { newMasterKey, type TestServers } from './test-environment.ts';

export interface RunningTestServers extends TestServers {
  readonly close: () => Promise<void>;
}

/**
 * With `childEnvironment`, a Node.js process loads these files first. `--require` loads them,
 * because `--import` takes 0.03 s more CPU per start.
 */
const preloads = ['loopback-only.ts', 'unoptimized-wasm.ts']
  .map((file) => `--require=${JSON.stringify(path.join(import.meta.dirname, file))}`)
  .join(' ');

/**
 * The most connections to Postgres: enough for all test files that run at once, each with several
 * services and their pools.
 */
const connectionsMax = 800;

/**
 * Starts the Postgres server of a test run, with one migrated database that the tests copy (see
 * database.ts). Also fetches Redis if it is missing, because tests start Redis servers.
 */
export async function startTestServers(): Promise<RunningTestServers> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-'));
  await redisBinary(() =>
    process.stdout.write('Fetching Redis. Later runs use the fetched copy.\n'),
  );
  const postgres = await startPostgres({ dir, durable: false, connectionsMax });
  const close = async () => {
    await postgres.stop();
    rmSync(postgres.dataDir, { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const masterKey = newMasterKey();
    const template = await makeTemplate(postgres, masterKey);
    return {
      adminUrl: postgres.url,
      serviceUrl: postgres.serviceUrl('postgres'),
      template,
      masterKey,
      childEnvironment: { NODE_OPTIONS: preloads },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
