import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const keyBytes = 32;

/**
 * Returns the master key from the environment, or from the file that the environment names.
 * Otherwise generates a key once and keeps it in `dir`.
 */
export function masterKey(dir: string, env: NodeJS.ProcessEnv = process.env): string {
  const { SVC_MASTER_KEY: given, SVC_MASTER_KEY_FILE: givenFile } = env;
  if (given) return given;
  if (givenFile) return readFileSync(givenFile, 'utf8').trim();
  const file = path.join(dir, 'master-key');
  if (!existsSync(file)) {
    const key = `local:${randomBytes(keyBytes).toString('base64')}`;
    // If this file is lost, all values that are sealed with its key are lost too.
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(file, 'utf8').trim();
}
