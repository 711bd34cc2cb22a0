import { createLogger, createMetrics, systemClock } from '@svc/runtime';
import { createKey } from '@svc/store';
import { openFixture, openRotated } from '@svc/store/fixture';
import { testAuthor } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { countTamperedKeys } from '../metrics.ts';
import { createKeys } from './keys.ts';

test('a key whose limits were changed in the database has no secret and is counted', async () => {
  const fixture = await openFixture();
  onTestFinished(() => fixture.close());
  const { store, database } = fixture;
  const tenantId = await fixture.tenant();
  const metrics = createMetrics('gateway');
  const logger = createLogger({ service: 'gateway', level: 'silent' });
  const onTampered = countTamperedKeys(metrics);
  const keys = createKeys({ store, clock: systemClock, logger, onTampered });
  const counted = async () =>
    /^svc_gateway_tampered_keys_total\{.*\} (\d+)$/m.exec(await metrics.metrics())?.[1];
  const limits = { scopes: ['read'], addresses: [], expiresInDays: null } as const;
  const made = await createKey(store, { tenantId, secret: 'hsk_test_1', ...limits }, testAuthor);
  if (made.kind !== 'created') throw new Error(made.kind);
  const keyId = made.key.id;
  const secretsOf = async () =>
    (await keys.tenant({ tenantId, keyId }, 'new'))?.credentials.hmacSecrets;
  expect(await secretsOf()).toEqual(['hsk_test_1']);
  expect(await counted()).toBe('0');
  const place = { table: 'tenant_secrets', column: 'limits_sealed', tenantId, kind: 'key' };
  const rotated = openRotated(fixture);
  const limitsBefore = await database.query<{ sealed: Uint8Array }>(
    'SELECT limits_sealed AS sealed FROM tenant_secrets WHERE id = $1',
    [keyId],
  );
  const write = (sealed: Uint8Array | undefined) =>
    database.query('UPDATE tenant_secrets SET limits_sealed = $2 WHERE id = $1', [keyId, sealed]);
  await write(rotated.sealer.seal({ ...place, row: keyId }, '[["read"],[],null]'));
  await expect(secretsOf()).rejects.toThrow('a master key that SVC_MASTER_KEY does not have');
  expect(await counted()).toBe('0');
  await write(limitsBefore[0]?.sealed);
  await rotated.close();
  await database.query(`UPDATE tenant_secrets SET scopes = '{read,spend}' WHERE id = '${keyId}'`);
  expect(await secretsOf()).toEqual([]);
  expect(await counted()).toBe('1');
});
