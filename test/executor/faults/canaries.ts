import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Applicant } from '../employers/applicant.ts';

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Searches the names and the contents of all files below `dirs` for the canaries of the applicant,
 * also in UTF-16. Returns a line for each canary that it finds in a file.
 */
export function canariesIn(dirs: readonly string[], { canaries }: Applicant): string[] {
  return dirs.flatMap(filesBelow).flatMap((file) => {
    const content = `${path.basename(file)}\n${textOf(file)}`;
    const wide = content.replaceAll('\0', '');
    return canaries
      .filter((canary) => content.includes(canary) || wide.includes(canary))
      .map((canary) => `${path.basename(file)} contains personal data: ${canary}`);
  });
}
