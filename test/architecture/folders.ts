import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** An import between two files of a room. Both paths are relative to the room's `src`. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

const importPattern = /\bfrom '(\.\.?\/[^']+)'/gu;

export function importsIn(srcDir: string): Import[] {
  return globSync('**/*.ts', { cwd: srcDir })
    .filter((file) => !/[.](?:test|fixture)[.]ts$|^generated\//u.test(file))
    .flatMap((from) => {
      const source = readFileSync(path.join(srcDir, from), 'utf8');
      return [...source.matchAll(importPattern)].map(([, target = '']) => ({
        from,
        to: path.join(path.dirname(from), target),
      }));
    });
}

const folderOf = (file: string): string => path.dirname(file);

/**
 * Returns the imports that are part of a circle of folders. Imports by files at the top of a room
 * are left out, because these files are in no folder.
 */
export function circularImports(imports: readonly Import[]): Import[] {
  const between = imports.filter(
    ({ from, to }) => folderOf(from) !== folderOf(to) && folderOf(from) !== '.',
  );
  const reaches = (start: string, goal: string): boolean => {
    const seen = new Set([start]);
    for (const folder of seen) {
      if (folder === goal) return true;
      for (const { from, to } of between) if (folderOf(from) === folder) seen.add(folderOf(to));
    }
    return false;
  };
  return between.filter(({ from, to }) => reaches(folderOf(to), folderOf(from)));
}
