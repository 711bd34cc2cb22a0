import type { Say } from './progress.ts';
import { svc } from './svc-command.ts';

export interface Migration {
  /**
   * The URL of the database, with the owner of the tables as its user. Undefined if the services'
   * role owns them.
   */
  readonly ownerUrl: string | undefined;
  /** True if no other stack uses the database. */
  readonly isAlone: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
}

/**
 * Runs `svc migrate`. If `isAlone`, runs it with `--raise-floor`, and then reseals all sealed data
 * if that is due.
 */
export async function migrate({ ownerUrl, isAlone, env, say }: Migration): Promise<void> {
  // `--raise-floor` also applies migrations that earlier builds do not work with. If `isAlone`,
  // this is safe, because this stack starts its services later.
  const words = isAlone ? ['migrate', '--raise-floor'] : ['migrate'];
  const printed = await svc(words, { ...env, MIGRATION_DATABASE_URL: ownerUrl });
  const result = new Map<string, unknown>(Object.entries(printed ?? {}));
  const applied = result.get('applied');
  const names = Array.isArray(applied) ? applied.map(String) : [];
  say(names.length === 0 ? 'up to date' : `applied ${names.join(', ')}`);
  // After `--raise-floor`, `svc migrate` prints `next` only if a reseal is due.
  if (!result.has('next') || !isAlone) return;
  await svc(['master-key', 'rotate', '--alone'], env);
  say('resealed all secrets and personal data in the new format, under the same master key');
}
