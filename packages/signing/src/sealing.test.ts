import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSealer, openKeyring, type Place, seal, SealError, unseal } from './sealing.ts';

const oldKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const newKey = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
const keyring = openKeyring(newKey);
const place: Place = {
  table: 'tenant_secrets',
  column: 'sealed',
  tenantId: '01890a5d-ac96-774b-bcce-b302099a8058',
  kind: 'webhook',
  row: '01890a5d-ac96-774b-bcce-b302099a8057',
};

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

test('sealed text and bytes open again', () => {
  for (const plain of ['', 'hsk_test_secret', 'Ana Pérez 🙂', 'x'.repeat(300_000)]) {
    expect(text(unseal(keyring, place, seal(keyring, place, plain)))).toBe(plain);
  }
  const bytes = randomBytes(1000);
  expect(Buffer.from(unseal(keyring, place, seal(keyring, place, bytes)))).toEqual(bytes);
});

test('the layout is version, key id, nonce, ciphertext, tag', () => {
  const sealed = seal(keyring, place, 'abc');
  expect(sealed).toHaveLength(2 + 2 + 12 + 3 + 16);
  expect([...sealed.subarray(0, 4)]).toEqual([2, 2, ...Buffer.from('k2')]);
});

test('the same text sealed twice differs', () => {
  expect(seal(keyring, place, 'abc')).not.toEqual(seal(keyring, place, 'abc'));
});

describe('a sealed value does not open', () => {
  test.each([
    { table: 'nodes' },
    { column: 'secret_sealed' },
    { tenantId: '01890a5d-ac96-774b-bcce-b302099a8059' },
    { tenantId: null },
    { kind: 'hmac' },
    { kind: null },
    { row: '01890a5d-ac96-774b-bcce-b302099a8050' },
  ])('in another place: %j', (other) => {
    const sealed = seal(keyring, place, 'secret');
    expect(() => unseal(keyring, { ...place, ...other }, sealed)).toThrow('cannot be decrypted');
  });

  test('if it is of the previous version, which names no tenant, and that is no longer accepted', () => {
    const sealed = seal(keyring, place, 'secret', 1);
    expect(text(unseal(keyring, place, sealed, { previous: true }))).toBe('secret');
    expect(() => unseal(keyring, place, sealed)).toThrow('no longer accepts that format');
    // If only the version byte changes, the value does not open, either.
    sealed[0] = 2;
    expect(() => unseal(keyring, place, sealed, { previous: true })).toThrow('cannot be decrypted');
  });

  test('under another key of the same id', () => {
    const other = openKeyring(`k2:${Buffer.alloc(32, 3).toString('base64')}`);
    const sealed = seal(keyring, place, 'secret');
    expect(() => unseal(other, place, sealed)).toThrow('cannot be decrypted');
  });

  test('under a key that the keyring lacks', () => {
    const sealed = seal(openKeyring(oldKey), place, 'secret');
    expect(() => unseal(keyring, place, sealed)).toThrow('does not have');
  });

  test('with any one bit flipped', () => {
    const sealed = seal(keyring, place, 'secret');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Uint8Array.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => unseal(keyring, place, altered), `bit ${bit}`).toThrow(SealError);
    }
  });

  test('if it is truncated or extended', () => {
    const sealed = seal(keyring, place, 'secret');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => unseal(keyring, place, sealed.subarray(0, length))).toThrow(SealError);
    }
    expect(() => unseal(keyring, place, Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow(
      SealError,
    );
  });
});

test('a rotated keyring opens what the old key sealed, and seals with the new one', () => {
  const old = createSealer(openKeyring(oldKey));
  const rotated = createSealer(openKeyring(`${newKey},${oldKey}`));
  expect(text(rotated.unseal(place, old.seal(place, 'secret')))).toBe('secret');
  const sealed = rotated.seal(place, 'secret');
  expect(text(createSealer(keyring).unseal(place, sealed))).toBe('secret');
  expect(() => old.unseal(place, sealed)).toThrow('does not have');
});

test('a sealer seals and opens in the versions of the database’s phase', () => {
  const sealer = createSealer(keyring);
  const versions = (['previous', 'resealing', 'bound'] as const).map((phase) => {
    sealer.phase = phase;
    return sealer.seal(place, 'secret');
  });
  expect(versions.map(([version]) => version)).toEqual([1, 2, 2]);
  const [previous = new Uint8Array()] = versions;
  expect(() => sealer.unseal(place, previous)).toThrow('no longer accepts that format');
  sealer.phase = 'resealing';
  expect(text(sealer.unseal(place, previous))).toBe('secret');
});

describe('a keyring', () => {
  test('may have spaces between its keys, and seals with the first', () => {
    const { sealingKeyId, keys } = openKeyring(` ${newKey} , ${oldKey} `);
    expect(sealingKeyId).toBe('k2');
    expect([...keys.keys()]).toEqual(['k2', 'k1']);
  });

  test.each([
    '',
    ',',
    `${newKey},`,
    'k1',
    'k1:',
    Buffer.alloc(32).toString('base64'),
    `:${Buffer.alloc(32).toString('base64')}`,
    `k 1:${Buffer.alloc(32).toString('base64')}`,
    `${'k'.repeat(65)}:${Buffer.alloc(32).toString('base64')}`,
    `k1:${Buffer.alloc(31).toString('base64')}`,
    `k1:${Buffer.alloc(33).toString('base64')}`,
    `k1:${Buffer.alloc(32).toString('hex')}`,
    `${newKey},${newKey}`,
    Array.from({ length: 9 }, (_, index) => newKey.replace('k2', `k${index}`)).join(','),
  ])('that is invalid is refused without quoting it: %j', (keys) => {
    expect(() => openKeyring(keys)).toThrow(SealError);
    expect(() => openKeyring(keys)).not.toThrow(/AAAA/);
  });
});
