import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { NodeCredentials, TenantCredentials } from './provisioning.ts';

/** What the launcher keeps from one start to the next. */
export interface DemoState {
  readonly tenant: TenantCredentials;
  /** Taken again where it is free, so that the tenant's webhook URL stays the same. */
  readonly webhookPort: number;
  readonly nodes: readonly NodeCredentials[];
}

/** One file for the embedded database and one for each DATABASE_URL: each has tenants of its own. */
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

/** For the owner's eyes only. */
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
