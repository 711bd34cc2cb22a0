import type { TestProject } from 'vitest/node';
import { startTestServers } from './test-servers.ts';

/** Once per run of vitest: the servers that all test files share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { close, ...servers } = await startTestServers();
  project.provide('testServers', servers);
  return close;
}
