import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { injectedBugs } from './catalogue.ts';
import { applyEdit } from './injected-bug.ts';

const checkout = path.resolve(import.meta.dirname, '../../..');

test.each(injectedBugs)('$name still fits the code (if not, update the edit)', ({ edits }) => {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const source = readFileSync(path.join(checkout, file), 'utf8');
    const own = edits.filter((edit) => edit.file === file);
    expect(own.reduce(applyEdit, source)).not.toBe(source);
  }
});

test('there are at least twelve bugs, and their names are unique', () => {
  expect(injectedBugs.length).toBeGreaterThanOrEqual(12);
  expect(new Set(injectedBugs.map(({ name }) => name)).size).toBe(injectedBugs.length);
});

test('an edit whose text is missing or occurs twice is refused', () => {
  const edit = { file: 'a.ts', from: 'one', to: 'two' };
  expect(() => applyEdit('three', edit)).toThrow('0 times');
  expect(() => applyEdit('one one', edit)).toThrow('2 times');
});
