import { randomBytes } from 'node:crypto';
import { createSealer, openKeyring } from '@svc/signing';
import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import type { Place } from '../connection/store.ts';
import { createOperator, findOperatorCredentials } from '../operators/operators.ts';
import { createFixture } from '../store.fixture.ts';
import { countSealedRows, resealPage, sealedColumns } from './reseal.ts';
import { responsePlace } from './sealed.ts';

test('a rotation seals every column with sealed values again', async () => {
  const { database } = await createFixture();
  const columns = await database.query<{ name: string }>(`
    SELECT c.relname || '.' || a.attname AS name
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND a.atttypid = 'bytea'::regtype AND a.attname LIKE '%sealed%' AND NOT a.attisdropped`);
  const listed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(columns.map(({ name }) => name).toSorted()).toEqual(listed.toSorted());
});

test('a page is sealed under the first key, opens with it alone, and is skipped afterwards', async () => {
  const { store } = await createFixture();
  const id = store.newId();
  await createOperator(store, { id, name: 'Ana', secret: 'osk_1' }, testAuthor);
  const next = `next:${randomBytes(32).toString('base64')}`;
  const opened = store.sealer;
  const alone = createSealer(openKeyring(next));
  // This sealer seals under the next key. It opens values that are sealed under the next or the old
  // key. A sealer whose keyring has both keys does the same.
  const sealer = {
    ...alone,
    unseal: (place: Place, sealed: Uint8Array) => {
      const isNew = Buffer.from(sealed).subarray(0, alone.prefix.byteLength).equals(alone.prefix);
      return (isNew ? alone : opened).unseal(place, sealed);
    },
  };
  const column = { table: 'operators', column: 'secret_sealed' };
  const both = { ...store, sealer };
  expect(await resealPage(both, column, null)).toMatchObject({
    looked: 1,
    resealed: 1,
    next: null,
  });
  expect(await resealPage(both, column, null)).toMatchObject({
    looked: 1,
    resealed: 0,
    next: null,
  });
  const found = await findOperatorCredentials({ ...store, sealer: alone }, id);
  expect(found).toMatchObject({ secret: 'osk_1' });
  await expect(findOperatorCredentials(store, id)).rejects.toThrow('does not have');
});

test('rows with a composite key are found again by it, page by page', async () => {
  const { store, database, tenant } = await createFixture();
  const [deliveryId, tenantId] = [store.newId(), await tenant()];
  await database.query(
    `INSERT INTO deliveries (id, tenant_id, event_id, type, status, created_at, round_started_at)
     VALUES ($1, $2, $1, 'test', 'delivered', svc_now(), svc_now())`,
    [deliveryId, tenantId],
  );
  const attempts = [1, 2, 3];
  for (const number of attempts) {
    const place = responsePlace({ tenantId, deliveryId, round: 1, number });
    const sealed = store.sealer.seal(place, `answer ${number}`);
    await database.query(
      `INSERT INTO delivery_attempts (delivery_id, round, number, at, response_sealed)
       VALUES ($1, 1, $2, svc_now(), $3)`,
      [deliveryId, number, Buffer.from(sealed)],
    );
  }
  const [row] = await database.query<{ partition: string }>(
    'SELECT tableoid::regclass::text AS partition FROM delivery_attempts LIMIT 1',
  );
  const countBefore = await countSealedRows(store);
  await database.query(`ANALYZE ${row?.partition}`);
  expect(await countSealedRows(store)).toBe(countBefore + attempts.length);
  const column = sealedColumns.find(({ table }) => table === 'delivery_attempts');
  if (column === undefined) throw new Error('attempts are not in the list');
  // The sealer has the same keys but another prefix. All values therefore look as if they were
  // sealed under an older key.
  const renewing = { ...store, sealer: { ...store.sealer, prefix: Buffer.from('another') } };
  const whole = await resealPage(renewing, column, null);
  expect(whole).toMatchObject({ looked: 3, resealed: 3, next: null });
  const behind = await resealPage(renewing, column, `${deliveryId}:1:2`);
  expect(behind).toMatchObject({ looked: 1, resealed: 1, next: null });
});

test('an attempt whose delivery was dropped does not stop a rotation', async () => {
  const { store, database, tenant } = await createFixture();
  const [deliveryId, tenantId] = [store.newId(), await tenant()];
  const place = responsePlace({ tenantId, deliveryId, round: 1, number: 1 });
  // `dropExpiredPartitions` drops the deliveries of a month first, and then their attempts.
  await database.query(
    `INSERT INTO delivery_attempts (delivery_id, round, number, at, response_sealed)
     VALUES ($1, 1, 1, svc_now(), $2)`,
    [deliveryId, Buffer.from(store.sealer.seal(place, 'answer'))],
  );
  const column = sealedColumns.find(({ table }) => table === 'delivery_attempts');
  if (column === undefined) throw new Error('attempts are not in the list');
  const renewing = { ...store, sealer: { ...store.sealer, prefix: Buffer.from('another') } };
  expect(await resealPage(renewing, column, null)).toMatchObject({ resealed: 0, changed: 0 });
});
