import type { Say } from './progress.ts';
import { svc } from './svc-command.ts';

/** Brings the database to the schema of this checkout, by `svc migrate` as the owner of the schema. */
export async function migrate(
  ownerUrl: string | undefined,
  env: NodeJS.ProcessEnv,
  say: Say,
): Promise<void> {
  const result = await svc(['migrate'], { ...env, MIGRATION_DATABASE_URL: ownerUrl });
  const applied = new Map<string, unknown>(Object.entries(result ?? {})).get('applied');
  const names = Array.isArray(applied) ? applied.map(String) : [];
  say(names.length === 0 ? 'up to date' : `applied ${names.join(', ')}`);
}
