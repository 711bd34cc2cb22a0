import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { statementHead } from './generators/sql-tokens.ts';
import { sqlEdits } from './generators/sql.ts';
import { typescriptEdits } from './generators/typescript.ts';
import { type Mutant, toMutants } from './mutant.ts';
import type { Room } from './rooms.ts';

/**
 * Files without mutants. Each `index.ts` and `main.ts` is among them, because most of these files
 * only re-export or only compose a service.
 */
const leftOut = /(?:\.test|[.-]fixture)\.ts$|\/(?:index|main)\.ts$|\/generated\//;

/** The files that match the globs, relative to the checkout, in alphabetical order. */
export function filesOf(checkout: string, globs: readonly string[]): string[] {
  return [...new Set(globSync([...globs], { cwd: checkout }))].toSorted();
}

export function mutantsOf(checkout: string, room: Room): Mutant[] {
  return filesOf(checkout, room.files)
    .filter((file) => !leftOut.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(checkout, file), 'utf8');
      return file.endsWith('.sql')
        ? migrationMutants(file, text)
        : toMutants(file, text, typescriptEdits(file, text, room.embedded));
    });
}

function migrationMutants(file: string, text: string): Mutant[] {
  const edits = sqlEdits(text).map((edit) => ({
    ...edit,
    scope: statementHead(text, edit.start),
    reach: 0,
  }));
  return toMutants(file, text, edits);
}
