import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

const position = { id: '019ab000-0000-7000-8000-000000000001', atMs: 1_795_000_000_123 };

test('a cursor decodes to the end of its page', () => {
  const cursor = encodeCursor('submissions', position);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]{31}$/);
  expect(decodeCursor('submissions', cursor)).toEqual(position);
});

test('a text that is not a cursor of this list is refused', () => {
  const cursor = encodeCursor('submissions', position);
  for (const text of ['x', `${cursor}A`, `${cursor}=`, cursor.slice(1), '!!!!', `${cursor} `]) {
    expect(decodeCursor('submissions', text)).toBeUndefined();
  }
  expect(decodeCursor('deliveries', cursor)).toBeUndefined();
  const endOfTime = encodeCursor('submissions', { ...position, atMs: 2 ** 48 - 1 });
  expect(decodeCursor('submissions', endOfTime)).toBeUndefined();
});
