import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleOf, bundleProcesses, svcHostEntry } from './bundles.ts';
import { fetchPrograms } from './fetch-programs.ts';
import { createMemoryDirectory } from './memory-directory.ts';
import { startSvcHosts } from './svc-hosts.ts';
import { cleanEnvironment } from './test-environment.ts';
import { startTestServers } from './test-servers.ts';

/**
 * Starts the servers that all tests of a run share. If possible, the workers inherit a directory in
 * memory as `TMPDIR`. Returns the function that cleans up.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const memory = createMemoryDirectory();
  if (memory === undefined) return startServers(project);
  process.env['TMPDIR'] = memory;
  const deleteMemory = () => rmSync(memory, { recursive: true, force: true });
  try {
    const stop = await startServers(project);
    return () => stop().finally(deleteMemory);
  } catch (error) {
    deleteMemory();
    throw error;
  }
}

async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const bundling = process.env['TEST_FROM_SOURCES'] === undefined ? bundleProcesses() : undefined;
  const [{ close, ...servers }, bundles] = await Promise.all([
    startTestServers(),
    bundling,
    fetchPrograms(),
  ]);
  if (bundles === undefined) {
    project.provide('testServers', servers);
    return close;
  }
  const dir = mkdtempSync(path.join(tmpdir(), 'svc-hosts-'));
  const entry = bundleOf(bundles, svcHostEntry);
  const env = { ...cleanEnvironment(), ...servers.childEnvironment };
  const hosts = await startSvcHosts({ dir, entry, env });
  project.provide('testServers', { ...servers, bundles, svcSocket: hosts.socketPath });
  return async () => {
    await hosts.close();
    rmSync(dir, { recursive: true, force: true });
    await close();
  };
}
