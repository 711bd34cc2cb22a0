import { randomBytes } from 'node:crypto';
import { createSealer, openKeyring } from '@svc/signing';
import { expect, test } from 'vitest';
import { openStore } from '../connection/store.ts';
import { isUnknownKey, publishKeys } from '../sealing/key-holders.ts';
import { createFixture } from '../store.fixture.ts';
import { openReceipt, sealReceipt } from './receipts.ts';

const keyOf = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

test('a receipt under an unknown key is unreadable, unless another process holds this key', async () => {
  const [old, next] = [keyOf('2026'), keyOf('2027')];
  const { store, database } = await createFixture({ masterKey: old });
  const sealer = createSealer(openKeyring(`${next},${old}`));
  const assigned = { submissionId: store.newId(), nodeId: store.newId() };
  const receipt = sealReceipt(
    sealer,
    assigned,
    JSON.stringify({ nodeId: assigned.nodeId }),
    undefined,
  );
  const open = (text = receipt) =>
    openReceipt(store.query, store.sealer, { ...assigned, receipt: text });
  expect(await open()).toBeNull();
  const { databaseUrl } = database;
  const rotated = openStore({ databaseUrl, sealer, newId: store.newId });
  await publishKeys(rotated, { id: store.newId(), service: 'gateway', host: 'b' });
  await rotated.close();
  const error = await open().catch((caught: unknown) => caught);
  expect(isUnknownKey(error)).toBe(true);
  expect(await open('x')).toBeNull();
});
