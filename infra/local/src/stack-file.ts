import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The data that `npx svc` and other programs on this machine need to reach the running stack. */
export interface StackFile {
  readonly pid: number;
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl?: string | undefined;
  readonly redisUrl: string;
  readonly masterKey: string;
  readonly gatewayUrl: string;
  readonly nodeLinkUrl: string;
  /** The port of each service for /live, /ready and /metrics. */
  readonly adminPorts: Readonly<Record<string, number>>;
}

function fileIn(dir: string): string {
  return path.join(dir, 'stack.json');
}

/** Writes the file, readable by its owner only, because it contains the master key. */
export function writeStackFile(dir: string, stack: StackFile): void {
  const partial = `${fileIn(dir)}.partial`;
  rmSync(partial, { force: true });
  writeFileSync(partial, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, fileIn(dir));
}

/**
 * The running stack, or one that crashed. Undefined if there is no file, or if it does not describe
 * a stack. Throws if the file is not JSON.
 */
export function readStackFile(dir: string): StackFile | undefined {
  if (!existsSync(fileIn(dir))) return undefined;
  const stack: unknown = JSON.parse(readFileSync(fileIn(dir), 'utf8'));
  return isStackFile(stack) ? stack : undefined;
}

export function removeStackFile(dir: string): void {
  rmSync(fileIn(dir), { force: true });
}

function isStackFile(value: unknown): value is StackFile {
  return typeof value === 'object' && value !== null && 'pid' in value && 'gatewayUrl' in value;
}
