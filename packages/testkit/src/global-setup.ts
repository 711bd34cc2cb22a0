import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { redisBinary, startPostgres } from '@svc/local';
import type { TestProject } from 'vitest/node';
import { makeTemplate } from './template-database.ts';
import { newMasterKey } from './test-environment.ts';

/** Of all test files that run at once, each with several services and their pools. */
const connectionsMax = 800;

/**
 * Once per run of vitest: one Postgres server for all tests, with one migrated database in it
 * that every test database is a copy of (see database.ts), and a Redis to be found on the disk.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-test-'));
  await redisBinary(() => process.stdout.write('Fetching Redis, once.\n'));
  const postgres = await startPostgres({ dir, durable: false, connectionsMax });
  const teardown = async () => {
    await postgres.stop();
    rmSync(postgres.dataDir, { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const masterKey = newMasterKey();
    const template = await makeTemplate(postgres, masterKey);
    project.provide('testServers', {
      adminUrl: postgres.url,
      serviceUrl: postgres.serviceUrl('postgres'),
      template,
      masterKey,
    });
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}
