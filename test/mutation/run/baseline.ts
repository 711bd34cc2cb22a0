import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { filesOf } from '../generate.ts';
import type { Reach } from './reach.ts';
import { checkout } from './test-files.ts';

/** A test file without a mutant. */
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
/** What a baseline depends on besides the test file itself. */
const inputs = [
  '{packages,services,infra}/*/src/**/*.ts',
  'prisma/migrations/*/migration.sql',
  'test/support/*.ts',
  'test/mutation/run/{setup,reach,test-files}.ts',
  'pnpm-lock.yaml',
];

/** Baselines of earlier runs on the same code, in `.local/`. */
export function openBaselineCache(): BaselineCache {
  const hash = createHash('sha256');
  for (const file of filesOf(checkout, inputs)) {
    if (file.endsWith('.test.ts') || file.includes('/generated/')) continue;
    hash.update(`${file}\0`).update(readFileSync(path.join(checkout, file)));
  }
  const common = hash.digest('hex');
  const fileOf = (testFile: string) => {
    const text = readFileSync(path.join(checkout, testFile));
    const name = createHash('sha256').update(`${common}\0${testFile}\0`).update(text).digest('hex');
    return path.join(directory, `${name}.json`);
  };
  return {
    read(testFile) {
      const file = fileOf(testFile);
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    },
    write(baseline) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(fileOf(baseline.testFile), JSON.stringify(baseline));
    },
  };
}
