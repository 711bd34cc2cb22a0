import { expect, it } from 'vitest';
import { equivalents } from './equivalents.ts';
import { mutantsOf } from './generate.ts';
import { rooms } from './rooms.ts';
import { checkout } from './run/test-files.ts';

it('each equivalent mutant is still generated in its file, and is listed once', () => {
  const files = new Map(
    rooms.flatMap((room) => mutantsOf(checkout, room)).map(({ id, file }) => [id, file]),
  );
  const stale = equivalents.filter(({ id, file }) => files.get(id) !== file);
  expect(stale).toStrictEqual([]);
  expect(new Set(equivalents.map(({ id }) => id)).size).toBe(equivalents.length);
});
