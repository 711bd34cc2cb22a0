import { expect, test } from 'vitest';
import { requestIdOf } from './request-id.ts';

const newId = () => 'fresh';

test.each(['a', 'Request_1.2-3', 'x'.repeat(128)])('%s is kept', (header) => {
  expect(requestIdOf(header, newId)).toBe(header);
});

test.each([undefined, '', 'a b', 'ä', 'a,b', 'x'.repeat(129), 'a\n', ['a', 'b']])(
  '%j is replaced',
  (header) => {
    expect(requestIdOf(header, newId)).toBe('fresh');
  },
);
