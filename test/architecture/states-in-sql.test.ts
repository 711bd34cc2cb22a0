import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { submissionStates } from '@svc/domain';
import { expect, test } from 'vitest';
import { parse, walk } from '../mutation/generators/syntax.ts';

/**
 * The SQL of the store gets the states of submissions from the domain, and does not repeat them as
 * literals (decision 25).
 */

const checkoutDir = path.resolve(import.meta.dirname, '../..');

/**
 * These names have other meanings too: `pending` is a status of a delivery, for example. The test
 * refuses them only after the word `state`.
 */
const sharedWords = ['pending', 'failed'];
const ownWords = submissionStates.filter((state) => !sharedWords.includes(state));
const stateLiteral = new RegExp(
  `'(?:${ownWords.join('|')})'|\\bstate\\b[^,\\n]{0,40}'(?:${sharedWords.join('|')})'`,
  'u',
);

function stateLiteralsIn(file: string, source: string): string[] {
  const found: string[] = [];
  walk(parse(file, source), ({ node }) => {
    const isText = node.type === 'TemplateLiteral' || typeof node['value'] === 'string';
    if (!isText) return;
    const text = source.slice(node.start + 1, node.end - 1);
    if (stateLiteral.test(text)) found.push(text);
  });
  return found;
}

test('no SQL of the store has the literal of a state, except the conditions of submission-states.ts', () => {
  const files = globSync('packages/store/src/**/*.ts', {
    cwd: checkoutDir,
    exclude: ['**/*.test.ts', '**/*.fixture.ts', '**/generated/**'],
  });
  expect(files.length).toBeGreaterThan(60);
  const found = files.flatMap((file) =>
    stateLiteralsIn(file, readFileSync(path.join(checkoutDir, file), 'utf8')).map(
      (text) => `${file}: ${text}`,
    ),
  );
  expect(found).toEqual([]);
});

test.each([
  ["const sql = `SELECT 1 FROM submissions WHERE state = 'pending'`;", 1],
  ["const sql = `UPDATE submissions SET state = 'settling'`;", 1],
  ["const sql = `SELECT 1 WHERE s.state IN ('submitted', 'failed')`;", 1],
  ['const sql = "SELECT 1 WHERE state IS DISTINCT FROM \'rejected\'";', 1],
  ["const sql = `UPDATE deliveries SET status = 'pending'`;", 0],
  ["const isNew = row.state === 'dispatched';", 0],
])('%s has %d', (source, count) => {
  expect(stateLiteralsIn('a.ts', source)).toHaveLength(count);
});
