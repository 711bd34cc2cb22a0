import { randomBytes } from 'node:crypto';
import { newId } from '@svc/runtime';
import { createSealer, openKeyring } from '@svc/signing';
import { openStore, publishKeys, type Store, withdrawKeys } from '@svc/store';
import { bareEnvironment, createTestDatabase, runSvc, testMasterKey } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';

test('a rotation refuses while one of two processes lacks the new key, and names it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const next = `2027:${randomBytes(32).toString('base64')}`;
  const ring = `${next},${testMasterKey()}`;
  const svc = (...words: string[]) =>
    runSvc(words, {
      ...bareEnvironment(),
      DATABASE_URL: database.databaseUrl,
      SVC_MASTER_KEY: ring,
    });
  const open = (masterKey: string): Store => {
    const sealer = createSealer(openKeyring(masterKey));
    const store = openStore({ databaseUrl: database.databaseUrl, sealer, newId });
    onTestFinished(() => store.close());
    return store;
  };
  const [both, oldOnly] = [open(ring), open(testMasterKey())];
  const id = newId();
  await publishKeys(both, { id: newId(), service: 'gateway', host: 'alpha' });
  await publishKeys(oldOnly, { id, service: 'gateway', host: 'beta' });
  const sealedUnder = () =>
    database.query<{ key: string }>(
      `SELECT convert_from(substr(request_hash_key_sealed, 3, 4), 'UTF8') AS key FROM environment`,
    );

  expect(await svc('tenant', 'create', '--name', 'Acme')).toMatchObject({ code: 0 });
  const before = await sealedUnder();
  const refused = await svc('master-key', 'rotate');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('lack the key 2027: gateway on beta.');
  expect(await sealedUnder()).toEqual(before);
  expect(await svc('doctor')).toMatchObject({
    stdout: expect.stringContaining('gateway on beta lacks 2027'),
  });

  const { keyIds } = oldOnly.sealer;
  const forced = await svc('master-key', 'rotate', '--force');
  expect(forced.stdout).toContain(
    `Data may still be sealed under ${keyIds.join()} by gateway on beta.`,
  );
  await withdrawKeys(oldOnly, id);
  const last = await svc('master-key', 'rotate', '--json');
  expect(JSON.parse(last.stdout)).toMatchObject({ keyId: '2027', stillSealing: [] });
  expect(await sealedUnder()).toEqual([{ key: '2027' }]);
});
