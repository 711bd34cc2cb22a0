import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { acceptLinkSignature } from './link-signatures.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest();

test('a signature is accepted once, however many dispatchers ask at the same time', async () => {
  const { store, advance, database } = await createFixture();
  const asked = Array.from({ length: 8 }, () => acceptLinkSignature(store, hashOf('one')));
  expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
  expect(await acceptLinkSignature(store, hashOf('two'))).toBe(true);
  // A signature's timestamp is inside the replay window for at most 600 s. The clock moves to the
  // end of that time.
  await advance(600_000);
  expect(await acceptLinkSignature(store, hashOf('one'))).toBe(false);
  expect(await acceptLinkSignature(store, hashOf('two'))).toBe(false);

  await advance(3_600_000);
  expect(await acceptLinkSignature(store, hashOf('three'))).toBe(true);
  const rows = await database.query('SELECT 1 FROM node_link_signatures');
  expect(rows).toHaveLength(1);
});
