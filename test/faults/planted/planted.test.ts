import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { plantedBugs } from './catalogue.ts';
import { plant } from './planted.ts';

const checkout = path.resolve(import.meta.dirname, '../../..');

test.each(plantedBugs)('$name still fits the code (if not, update the mutation)', ({ edits }) => {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const source = readFileSync(path.join(checkout, file), 'utf8');
    const own = edits.filter((edit) => edit.file === file);
    expect(own.reduce(plant, source)).not.toBe(source);
  }
});

test('there are at least twelve mutations, and their names are unique', () => {
  expect(plantedBugs.length).toBeGreaterThanOrEqual(12);
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length);
});

test('a mutation whose text is missing or occurs twice is refused', () => {
  const edit = { file: 'a.ts', from: 'one', to: 'two' };
  expect(() => plant('three', edit)).toThrow('0 times');
  expect(() => plant('one one', edit)).toThrow('2 times');
});
