import { expect, it } from 'vitest';
import type { Mutant } from './mutant.ts';
import { nearestFirst } from './order.ts';
import type { Baseline } from './run/baseline.ts';

function mutant(own: Partial<Mutant>): Mutant {
  const place = { file: 'packages/store/src/a.ts', line: 1, start: 0, end: 0, scope: '' };
  return { ...place, id: '', kind: 'bound', before: '', after: '', reach: 3, ...own };
}

function baseline(testFile: string, own: Partial<Baseline['reach']>, durationMs = 1): Baseline {
  const reach = { functions: [], statements: [], ...own };
  return { testFile, passed: true, durationMs, reach };
}

/** The test files that `nearestFirst` names. */
function namesOf(...given: Parameters<typeof nearestFirst>): string[] {
  return nearestFirst(...given).map(({ testFile }) => testFile);
}

const entered = { functions: ['packages/store/src/a.ts#3'] };

it('runs the test of the same name first, then the fastest, and none that does not get there', () => {
  const tests = [
    baseline('packages/store/src/slow.test.ts', entered, 9),
    baseline('packages/store/src/fast.test.ts', entered, 2),
    baseline('packages/store/src/elsewhere.test.ts', { functions: ['packages/store/src/a.ts#2'] }),
    baseline('packages/store/src/a.test.ts', entered, 20),
  ];
  expect(namesOf(mutant({}), tests, () => '')).toStrictEqual([
    'packages/store/src/a.test.ts',
    'packages/store/src/fast.test.ts',
    'packages/store/src/slow.test.ts',
  ]);
});

it('runs the tests of processes, and the test of the same name, whose reach is not known', () => {
  const names = ['a.test.ts', 'main.test.ts', 'b.test.ts'];
  const tests = names.map((name) => baseline(`packages/store/src/${name}`, {}));
  expect(namesOf(mutant({}), tests, () => '')).toStrictEqual([
    'packages/store/src/a.test.ts',
    'packages/store/src/main.test.ts',
  ]);
});

it('finds the tests of a statement by what was sent to Postgres', () => {
  const sent = baseline('packages/store/src/b.test.ts', { statements: ['SELECT 1 WHERE a = $1'] });
  const other = baseline('packages/store/src/c.test.ts', { ...entered, statements: ['SELECT 2'] });
  const sql = mutant({ kind: 'sql-conjunct', sql: ' 1 WHERE a =', reach: 0 });
  expect(namesOf(sql, [sent, other], () => '')).toStrictEqual([sent.testFile]);
});

const textOf = (file: string) => (file.includes('y.test') ? 'some_column' : '');

it('runs the tests that name a constraint before those that do not', () => {
  const tests = ['x', 'y'].map((name) => baseline(`packages/store/src/${name}.test.ts`, {}));
  const check = mutant({ file: 'prisma/migrations/1/migration.sql', before: 'some_column > 0' });
  expect(namesOf(check, tests, textOf)).toStrictEqual([
    'packages/store/src/y.test.ts',
    'packages/store/src/x.test.ts',
  ]);
});

it('runs the tests that name the function before those that do not', () => {
  const tests = ['x', 'y'].map((name) => baseline(`packages/store/src/${name}.test.ts`, entered));
  const inside = mutant({ scope: 'some_column.row' });
  expect(namesOf(inside, tests, textOf)).toStrictEqual([
    'packages/store/src/y.test.ts',
    'packages/store/src/x.test.ts',
  ]);
});

it('leaves out tests that fail without a mutant', () => {
  const failing = { ...baseline('packages/store/src/a.test.ts', entered), passed: false };
  expect(namesOf(mutant({}), [failing], () => '')).toStrictEqual([]);
});
