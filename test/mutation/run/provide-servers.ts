import type { TestProject } from 'vitest/node';
import { serversVariable } from './test-files.ts';

/** Gives the test files the servers that the mutation run has already started. */
export default function setup(project: TestProject): void {
  project.provide('testServers', JSON.parse(process.env[serversVariable] ?? ''));
}
