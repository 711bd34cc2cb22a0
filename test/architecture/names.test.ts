import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { hasMisplacedUnit, namesIn, refusedWordIn, refusedWordsOf } from './names.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');
const refused = refusedWordsOf(readFileSync(path.join(checkoutDir, 'docs/GLOSSARY.md'), 'utf8'));

const names = execFileSync('git', ['ls-files', '*.ts'], { cwd: checkoutDir, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.includes('/generated/'))
  .flatMap((file) =>
    [...namesIn(file, readFileSync(path.join(checkoutDir, file), 'utf8'))].map(([name, line]) => ({
      name,
      at: `${file}:${line}: ${name}`,
    })),
  );

test('no name contains a word for which the glossary has another', () => {
  const found = names.filter(({ name }) => refusedWordIn(name, refused) !== undefined);
  expect(found.map(({ at }) => at)).toEqual([]);
});

test('the unit of a name is last, before the kind of limit', () => {
  expect(names.filter(({ name }) => hasMisplacedUnit(name)).map(({ at }) => at)).toEqual([]);
});

test('the glossary has words to refuse, and the code has names', () => {
  expect(refused).toEqual(expect.arrayContaining(['alarm', 'told', 'wished']));
  expect(names.length).toBeGreaterThan(10_000);
});

test.each([
  ['wakeUpAlarm', 'alarm'],
  ['told_tenants', 'told'],
  ['attemptUnderWay', 'underWay'],
])('the name %s is refused', (name, word) => {
  expect(refusedWordIn(name, ['alarm', 'told', 'underWay'])).toBe(word);
});

test.each(['alarming', 'way', 'under', 'retold'])('the name %s is accepted', (name) => {
  expect(refusedWordIn(name, refused)).toBeUndefined();
});

test.each(['msTimeout', 'leaseMsLimit', 'cpuMicrosAll'])('the unit of %s is refused', (name) => {
  expect(hasMisplacedUnit(name)).toBe(true);
});

test.each(['leaseMs', 'bodyBytesMax', 'retryAfterSecondsDefault', 'microsPerCredit', 'microsOf'])(
  'the unit of %s is accepted',
  (name) => {
    expect(hasMisplacedUnit(name)).toBe(false);
  },
);

test('a file has its names with their lines', () => {
  const source = 'const leaseMs = 1;\nclass A {\n  #told = leaseMs;\n}\n';
  expect([...namesIn('a.ts', source)]).toEqual([
    ['leaseMs', 1],
    ['A', 2],
    ['told', 3],
  ]);
});
