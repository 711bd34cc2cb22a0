import { expect, test } from 'vitest';
import { newId } from './ids.ts';

test('an id is a lower-case UUIDv7 of the given time', () => {
  const id = newId(0x0123_4567_89ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('ids sort by time and do not repeat', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => newId(1_700_000_000_000 + index));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(Array.from({ length: 1000 }, () => newId())).size).toBe(1000);
});
