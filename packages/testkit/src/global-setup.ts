import type { TestProject } from 'vitest/node';
import { bundleProcesses } from './bundles.ts';
import { startTestServers } from './test-servers.ts';

/** Runs once per run of vitest, and starts the servers that all test files share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const bundling = process.env['TEST_FROM_SOURCES'] === undefined ? bundleProcesses() : undefined;
  const { close, ...servers } = await startTestServers();
  project.provide('testServers', { ...servers, bundles: await bundling });
  return close;
}
