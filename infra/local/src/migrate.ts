import type { Say } from './progress.ts';
import { svc } from './svc-command.ts';

export interface Migration {
  /** Undefined: the services' role owns the tables. */
  readonly ownerUrl: string | undefined;
  /** Whether nobody else works on the database. */
  readonly isAlone: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
}

/**
 * Brings the database to the schema of this checkout, by `svc migrate` as the owner of the schema, and
 * seals again what an earlier version has sealed otherwise.
 */
export async function migrate({ ownerUrl, isAlone, env, say }: Migration): Promise<void> {
  const printed = await svc(['migrate'], { ...env, MIGRATION_DATABASE_URL: ownerUrl });
  const result = new Map<string, unknown>(Object.entries(printed ?? {}));
  const applied = result.get('applied');
  const names = Array.isArray(applied) ? applied.map(String) : [];
  say(names.length === 0 ? 'up to date' : `applied ${names.join(', ')}`);
  if (!result.has('next') || !isAlone) return;
  await svc(['master-key', 'rotate', '--alone'], env);
  say('sealed everything again');
}
