import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { filesOf } from '../generate.ts';
import type { Reach } from './reach.ts';
import { checkout } from './test-files.ts';

/**
 * The result of one run of a test file without a mutant, with which the runs with mutants are
 * compared.
 */
export interface Baseline {
  readonly testFile: string;
  readonly passed: boolean;
  readonly durationMs: number;
  readonly reach: Reach;
}

export interface BaselineCache {
  read(testFile: string): Baseline | undefined;
  write(baseline: Baseline): void;
}

const directory = path.join(checkout, '.local/cache/mutation');
const inputs = [
  '{packages,services}/*/src/**/*[.-]fixture.ts',
  'prisma/migrations/*/migration.sql',
  'test/support/*.ts',
  'test/mutation/run/{plan-runner,reach,setup,test-files}.ts',
  'pnpm-lock.yaml',
];

interface Kept extends Baseline {
  /** The product files with a function that the test called. Maps the path to the file's hash. */
  readonly entered: Record<string, string>;
}

/**
 * Keeps each `Baseline` in `.local/`. It is valid while its test file, `inputs` and each product
 * file of which the test called a function are unchanged.
 */
export function openBaselineCache(): BaselineCache {
  const common = createHash('sha256');
  for (const file of filesOf(checkout, inputs)) common.update(`${file}\0`).update(hashOf(file));
  const key = common.digest('hex');
  const fileOf = (testFile: string) => {
    const words = [key, testFile, hashOf(testFile)].join('\0');
    return path.join(directory, `${createHash('sha256').update(words).digest('hex')}.json`);
  };
  return {
    read(testFile) {
      const file = fileOf(testFile);
      if (!existsSync(file)) return undefined;
      const kept: Kept = JSON.parse(readFileSync(file, 'utf8'));
      const isValid = Object.entries(kept.entered).every(([name, hash]) => hashOf(name) === hash);
      return isValid ? kept : undefined;
    },
    write(baseline) {
      const names = baseline.reach.functions.map((entered) => entered.replace(/#\d+$/, ''));
      const entered = Object.fromEntries([...new Set(names)].map((name) => [name, hashOf(name)]));
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        fileOf(baseline.testFile),
        JSON.stringify({ ...baseline, entered } satisfies Kept),
      );
    },
  };
}

/** The hash of a file of the checkout. Empty if the file does not exist. */
function hashOf(file: string): string {
  const absolute = path.join(checkout, file);
  if (!existsSync(absolute)) return '';
  return createHash('sha256').update(readFileSync(absolute)).digest('hex');
}
