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
