import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { migrationsDirectory } from './files.ts';

export function laterBuild(later: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-migrations-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(migrationsDirectory, directory, { recursive: true });
  for (const [name, sql] of Object.entries(later)) {
    mkdirSync(path.join(directory, name));
    writeFileSync(path.join(directory, name, 'migration.sql'), sql);
  }
  return directory;
}
