import { expect, it } from 'vitest';
import type { Mutant } from './mutant.ts';
import { nearestFirst, reaches } from './order.ts';
import type { Baseline } from './run/baseline.ts';
import { noReach } from './run/reach.ts';

function mutant(own: Partial<Mutant>): Mutant {
  const place = { file: 'packages/store/src/a.ts', line: 1, start: 0, end: 0, scope: '' };
  return { ...place, id: '', kind: 'bound', before: '', after: '', reach: 3, ...own };
}

function baseline(testFile: string, own: Partial<Baseline['reach']>): Baseline {
  const reach = { ...noReach, ...own };
  return { testFile, passed: true, durationMs: 1, reach };
}

const entered = { functions: ['packages/store/src/a.ts#3'] };

const textOf = (file: string) => (file.includes('short') ? '' : 'text');

it('runs the test of the same name first, then the shortest', () => {
  const files = ['long', 'short', 'a'].map((name) => `packages/store/src/${name}.test.ts`);
  expect(nearestFirst([mutant({})], files, textOf)).toStrictEqual([
    'packages/store/src/a.test.ts',
    'packages/store/src/short.test.ts',
    'packages/store/src/long.test.ts',
  ]);
});

it('finds the tests that enter the function, or have its name, or start processes', () => {
  const other = { functions: ['packages/store/src/a.ts#2'] };
  expect(reaches(baseline('packages/store/src/b.test.ts', entered), mutant({}))).toBe(true);
  expect(reaches(baseline('packages/store/src/b.test.ts', other), mutant({}))).toBe(false);
  expect(reaches(baseline('packages/store/src/a.test.ts', other), mutant({}))).toBe(true);
  expect(reaches(baseline('packages/b/src/main.test.ts', {}), mutant({}))).toBe(true);
  expect(reaches(baseline('test/journeys/b.test.ts', {}), mutant({}))).toBe(true);
});

it('finds the tests of a statement by the SQL that they sent', () => {
  const sent = baseline('packages/store/src/b.test.ts', { statements: ['SELECT 1 WHERE a = $1'] });
  const other = baseline('packages/store/src/c.test.ts', { ...entered, statements: ['SELECT 2'] });
  const sql = mutant({ kind: 'sql-conjunct', sql: ' 1 WHERE a =', reach: 0 });
  expect([sent, other].map((one) => reaches(one, sql))).toStrictEqual([true, false]);
});

it('finds them also if the parameters have names in the source', () => {
  const sql = mutant({ kind: 'sql-conjunct', sql: ' 1 WHERE a = ANY($id) AND', reach: 0 });
  const found = ['a', 'b'].map((column) => {
    const sent = `SELECT 1 WHERE ${column} = ANY($2::uuid[]) AND c`;
    return reaches(baseline('packages/store/src/b.test.ts', { statements: [sent] }), sql);
  });
  expect(found).toStrictEqual([true, false]);
});

const named = (file: string) => (file.includes('y.test') ? 'some_column' : '');

it.each([
  { file: 'prisma/migrations/1/migration.sql', before: 'some_column > 0' },
  { scope: 'some_column.row' },
])('runs the tests that name what is changed before those that do not', (changed) => {
  const files = ['packages/store/src/x.test.ts', 'packages/store/src/y.test.ts'];
  expect(nearestFirst([mutant(changed)], files, named)).toStrictEqual(files.toReversed());
});
