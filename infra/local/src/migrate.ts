import type { Say } from './progress.ts';
import { svc } from './svc-command.ts';

/** Brings the database to the schema of this checkout, by `svc migrate`. */
export async function migrate(env: NodeJS.ProcessEnv, say: Say): Promise<void> {
  const applied = new Map<string, unknown>(Object.entries((await svc(['migrate'], env)) ?? {})).get(
    'applied',
  );
  const names = Array.isArray(applied) ? applied.map(String) : [];
  say(names.length === 0 ? 'up to date' : `applied ${names.join(', ')}`);
}
