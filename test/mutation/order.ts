import path from 'node:path';
import type { Mutant } from './mutant.ts';
import type { Baseline } from './run/baseline.ts';
import { functionKey } from './run/reach.ts';

/** SQL text shorter than this is too common to tell statements apart. */
const partCharactersMin = 8;

/** False means that the test file cannot notice the mutant. True means that it may. */
export function reaches({ testFile, reach }: Baseline, mutant: Mutant): boolean {
  if (mutant.file.endsWith('.sql')) return true;
  // Most of these tests start processes. It is not known which functions those processes call.
  if (testFile.startsWith('test/') || testFile.endsWith('/main.test.ts')) return true;
  if (isNamedAlike(mutant.file, testFile)) return true;
  const part = mutant.sql ?? '';
  if (part.trim().length >= partCharactersMin) {
    const written = withoutParameters(part);
    return reach.statements.some((sent) => withoutParameters(sent).includes(written));
  }
  if (mutant.reach === 0) return true;
  return reach.functions.includes(functionKey(mutant.file, mutant.reach));
}

/** The test files in the order in which they run for the mutants, which are all in one file. */
export function nearestFirst(
  mutants: readonly Mutant[],
  testFiles: readonly string[],
  textOf: (testFile: string) => string,
): string[] {
  const words = [...new Set(mutants.flatMap(namesIn))];
  const file = mutants[0]?.file ?? '';
  return testFiles
    .map((testFile) => {
      const text = textOf(testFile);
      return {
        testFile,
        isSameName: isNamedAlike(file, testFile),
        isInFolder: path.dirname(testFile) === path.dirname(file),
        named: words.filter((word) => text.includes(word)).length,
        length: text.length,
      };
    })
    .toSorted(
      (one, other) =>
        Number(other.isSameName) - Number(one.isSameName) ||
        Number(other.isInFolder) - Number(one.isInFolder) ||
        other.named - one.named ||
        one.length - other.length,
    )
    .map(({ testFile }) => testFile);
}

/**
 * Writes each parameter as `$`, so that the SQL of the source and a sent statement can be compared:
 * the source has `$id`, but the sent statement has `$1::uuid`.
 */
function withoutParameters(sql: string): string {
  return sql.replaceAll(/\$\w+(?:::\w+(?:\[\])?)?/g, '$');
}

function isNamedAlike(file: string, testFile: string): boolean {
  return path.basename(testFile) === path.basename(file).replace(/\.ts$/, '.test.ts');
}

function namesIn({ file, scope, before }: Mutant): string[] {
  if (!file.endsWith('.sql')) return [scope.replace(/\..*/, '')];
  const words = `${scope.toLowerCase()} ${before}`.match(/[a-z]+(?:_[a-z]+)+/g) ?? [];
  return [...new Set(words)];
}
