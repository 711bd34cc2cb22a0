import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * Only the files of the two lists below use Prisma's generated client, and no product code sends
 * raw SQL through Prisma (decision 24).
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const storeDir = 'packages/store/src';

/** The files of the store that make typed calls of Prisma. */
const typed = [
  'audit-log/audit-list.ts',
  'connection/store.ts',
  'ledger/grants.ts',
  'nodes/nodes.ts',
  'operators/operators.ts',
  'pricing/rate-card-history.ts',
  'submissions/trace.ts',
  'tenants/tenants.ts',
];

/** The other files of the store that import Prisma's generated client. */
const importers = [
  'connection/errors.ts',
  // The files below use `Prisma.sql` to build statements with optional conditions. The package `pg`
  // sends the statements.
  'deliveries/list.ts',
  'deliveries/recovery.ts',
  'ledger/account-statement.ts',
  'ledger/ledger-audit-entries.ts',
  'sealing/reseal.ts',
  'submissions/operator-list.ts',
  'submissions/submission-list.ts',
];

const sources = new Map(
  globSync('{packages,services,infra}/**/*.ts', {
    cwd: checkoutDir,
    exclude: (name) => /^(node_modules|generated|\.local)$/.test(path.basename(name)),
  })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => [file, readFileSync(path.join(checkoutDir, file), 'utf8')]),
);

function filesWith(pattern: RegExp): string[] {
  return [...sources]
    .filter(([, source]) => pattern.test(source))
    .map(([file]) => path.relative(storeDir, file))
    .toSorted();
}

test('no product code sends SQL or runs a transaction through Prisma', () => {
  expect(sources.size).toBeGreaterThan(300);
  expect(filesWith(/\$(?:query|execute|transaction|runCommand)(?:Raw)?\w*/)).toStrictEqual([]);
});

test('only the files of decision 24 make typed calls', () => {
  expect(filesWith(/(?<!')\bdb\b/)).toStrictEqual(typed);
});

test('files of the hot path do not import the generated client', () => {
  const found = filesWith(/generated\/client/);
  expect(found.filter((file) => !typed.includes(file))).toStrictEqual(importers);
});
