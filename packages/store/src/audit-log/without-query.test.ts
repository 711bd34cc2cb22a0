import { expect, test } from 'vitest';
import { withoutQuery } from './audit.ts';

test.each(['', '\n', '\r\n', '\u2028', '\nx'])(
  'the query of a URL that ends with %j is left out',
  (end) => {
    const url = `https://hooks.example.com/svc?token=secret${end}`;
    expect(withoutQuery(url)).toBe('https://hooks.example.com/svc?…');
  },
);
