import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { NodeCredentials, TenantCredentials } from './provisioning.ts';

/** The state that the launcher keeps from one start to the next. */
export interface DemoState {
  readonly tenant: TenantCredentials;
  /**
   * The port of the webhook receiver. A later start uses it again if it is free. The tenant's
   * webhook URL then stays the same.
   */
  readonly webhookPort: number;
  readonly nodes: readonly NodeCredentials[];
  /**
   * The node with a browser. The launcher creates it at the first start that has the demo switched
   * on and finds a browser. Undefined before that start.
   */
  readonly browserNode?: NodeCredentials;
}

/**
 * Returns the path of the state file. The embedded database and each DATABASE_URL have separate
 * files, because their tenants differ.
 */
function fileIn(dir: string, databaseUrl: string | undefined): string {
  if (databaseUrl === undefined) return path.join(dir, 'demo.json');
  const hash = createHash('sha256').update(databaseUrl).digest('hex').slice(0, 12);
  return path.join(dir, `demo-${hash}.json`);
}

export function readDemoState(dir: string, databaseUrl: string | undefined): DemoState | undefined {
  const file = fileIn(dir, databaseUrl);
  if (!existsSync(file)) return undefined;
  const state: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isDemoState(state) ? state : undefined;
}

export function writeDemoState(
  dir: string,
  databaseUrl: string | undefined,
  state: DemoState,
): void {
  const text = `${JSON.stringify(state, null, 2)}\n`;
  writeFileSync(fileIn(dir, databaseUrl), text, { mode: 0o600 });
}

function isDemoState(value: unknown): value is DemoState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'tenant' in value &&
    'webhookPort' in value &&
    'nodes' in value &&
    Array.isArray(value.nodes)
  );
}
