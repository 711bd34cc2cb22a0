import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { frozenDocumentUrl } from '../frozen.ts';
import { generatedFiles } from './write.ts';

const files = generatedFiles(JSON.parse(readFileSync(frozenDocumentUrl, 'utf8')));

test.each(files)(
  'the types of the clients agree with the frozen document; if not, run `pnpm openapi:freeze`: $url.pathname',
  ({ url, text }) => {
    expect(readFileSync(url, 'utf8')).toBe(text);
  },
);

test('each Python type is declared once', () => {
  const python = files.find(({ url }) => url.pathname.endsWith('.py'))?.text ?? '';
  const names = [...python.matchAll(/^(?:class )?(\w+)(?:\(| = )/gm)].map(([, name]) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(names.length).toBeGreaterThan(50);
});
