import path from 'node:path';
import { expect, test } from 'vitest';
import { offencesIn, offencesOf, proseFiles } from './language.ts';

const checkoutDir = path.resolve(import.meta.dirname, '../..');

const rooms = ['packages', 'services', 'infra', 'docs', 'examples', 'test', ':(glob)*.md'];

test.each(rooms)('the prose of %s has none of the constructions that are banned', (room) => {
  const files = proseFiles(checkoutDir, [room]);
  expect(files.length).toBeGreaterThan(0);
  const found = offencesIn(checkoutDir, files).map(
    (offence) => `${offence.file}:${offence.line}: "${offence.found}": ${offence.rule}`,
  );
  expect(found).toEqual([]);
});

test.each([
  'The tenant is told of it.',
  'A reconciler mends it.',
  'The set beside the queue.',
  'The job rings for all tenants.',
  'The value is to be one of these.',
  'Whoever takes the job takes the set.',
  'It answers 404 where nobody asked.',
  'What a dispatcher sends is logged.',
  'The account is asked anew.',
  'TODO: take this out.',
  `${'word '.repeat(33)}.`,
  'This is a sentence. '.repeat(13),
])('"%s" is refused in a comment', (text) => {
  expect(offencesOf({ file: 'a.ts', line: 1, kind: 'comment', text })).not.toEqual([]);
});

test('a plain comment is accepted, and code in it is not read', () => {
  const text = 'The gateway retries the hold, see `mended` and `rounds`. It returns after 5 s.';
  expect(offencesOf({ file: 'a.ts', line: 1, kind: 'comment', text })).toEqual([]);
});
