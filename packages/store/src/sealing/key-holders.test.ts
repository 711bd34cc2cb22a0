import { randomBytes } from 'node:crypto';
import { createSealer, openKeyring } from '@svc/signing';
import { expect, test } from 'vitest';
import { sealAuditHead } from '../audit-log/audit-chain.ts';
import { openStore } from '../connection/store.ts';
import { readStarts, sealCheckpoint, writeCheckpoints } from '../ledger-audit/checkpoints.ts';
import { readLedgerAudit, runLedgerAudit } from '../ledger-audit/run-audit.ts';
import { startOf } from '../ledger/ledger-audit-entries.ts';
import { firstId } from '../ledger/ledger-audit.ts';
import { databaseNow } from '../schema/environment.ts';
import { createFixture } from '../store.fixture.ts';
import {
  findKeyHolders,
  findSealingKeys,
  forgetSealingKeys,
  holdsSealingKeys,
  isUnknownKey,
  publishKeys,
  withdrawKeys,
} from './key-holders.ts';

const old = `2026:${randomBytes(32).toString('base64')}`;
const next = `2027:${randomBytes(32).toString('base64')}`;

/** Two processes of a service: one that seals under the new key, and one with only the old key. */
async function twoProcesses() {
  const fixture = await createFixture({ masterKey: old });
  const open = (masterKey: string) => {
    const { databaseUrl } = fixture.database;
    const sealer = createSealer(openKeyring(masterKey));
    return openStore({ databaseUrl, sealer, newId: fixture.store.newId });
  };
  const rotated = open(`${next},${old}`);
  return { fixture, rotated, lacking: fixture.store, open, close: () => rotated.close() };
}

test('a process that lacks the key of another is not ready, also when the other is gone', async () => {
  const { fixture, rotated, lacking, close } = await twoProcesses();
  const ids = [rotated.newId(), rotated.newId()];
  await publishKeys(lacking, { id: lacking.newId(), service: 'gateway', host: 'a' });
  expect(await holdsSealingKeys(lacking)).toBe(true);
  for (const id of ids) await publishKeys(rotated, { id, service: 'gateway', host: 'b' });
  expect(await findKeyHolders(lacking)).toMatchObject([
    { service: 'gateway', host: 'a', keyIds: ['2026'] },
    { host: 'b', keyIds: ['2027', '2026'] },
    { host: 'b', keyIds: ['2027', '2026'] },
  ]);
  expect(await holdsSealingKeys(lacking)).toBe(false);
  expect(await holdsSealingKeys(rotated)).toBe(true);
  await withdrawKeys(rotated, ids[0] ?? '');
  expect(await holdsSealingKeys(lacking)).toBe(false);
  // The other process ends without a word, but the values that it has sealed stay.
  await fixture.advance(30_001);
  expect(await findKeyHolders(lacking)).toEqual([]);
  expect(await holdsSealingKeys(lacking)).toBe(false);
  await close();
});

test('a key is needed until a rotation has begun after the last process that sealed under it', async () => {
  const { fixture, rotated, lacking, open, close } = await twoProcesses();
  const newOnly = open(next);
  const holder = { id: lacking.newId(), service: 'gateway', host: 'a' };
  const rotation = { id: rotated.newId(), service: 'svc master-key rotate', host: 'b' };
  const rotate = async (meanwhile?: () => Promise<unknown>): Promise<string[]> => {
    await fixture.advance(5);
    const since = await databaseNow(rotated);
    await meanwhile?.();
    await forgetSealingKeys(rotated, since);
    return findSealingKeys(rotated);
  };
  await publishKeys(lacking, holder);
  await publishKeys(rotated, rotation);
  expect(await rotate()).toEqual(['2026', '2027']);
  expect(await holdsSealingKeys(newOnly)).toBe(false);
  const passing = async () => {
    await publishKeys(lacking, holder);
    await withdrawKeys(lacking, holder.id);
  };
  expect(await rotate(passing)).toEqual(['2026', '2027']);
  expect(await rotate()).toEqual(['2027']);
  expect(await holdsSealingKeys(newOnly)).toBe(true);
  expect(await holdsSealingKeys(lacking)).toBe(false);
  await newOnly.close();
  await close();
});

test('the state of an audit and a head under an unknown key are no forgery', async () => {
  const { fixture, rotated, lacking, close } = await twoProcesses();
  await fixture.tenant(1_000);
  const holder = rotated.newId();
  expect(await runLedgerAudit(rotated, { holder })).toBe(true);
  await sealAuditHead(rotated, null);
  const failures = await Promise.allSettled([
    runLedgerAudit(lacking, { holder: lacking.newId() }),
    sealAuditHead(lacking, null),
  ]);
  for (const failure of failures) {
    expect(failure.status === 'rejected' && isUnknownKey(failure.reason)).toBe(true);
  }
  // The process without the key does not keep the lease.
  expect(await runLedgerAudit(rotated, { holder })).toBe(true);
  expect((await readLedgerAudit(rotated))?.faults).toEqual([]);
  await close();
});

test('a checkpoint under an unknown key is no forgery', async () => {
  const { fixture, rotated, lacking, close } = await twoProcesses();
  const tenantId = await fixture.tenant(1_000);
  const { query, sealer } = rotated;
  const place = { ...startOf(tenantId), sequence: 1n };
  await writeCheckpoints(query, [sealCheckpoint(sealer, place)]);
  await expect(readStarts(lacking.query, lacking.sealer, firstId, 10)).rejects.toThrow(
    'a master key that SVC_MASTER_KEY does not have',
  );
  expect(await readStarts(query, sealer, firstId, 10)).toEqual([{ place, isForged: false }]);
  await close();
});
