import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSealer, openKeyring, seal, SealError, unseal } from './sealing.ts';

const oldKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const newKey = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
const keyring = openKeyring(newKey);
const binding = 'tenant_secrets.sealed:01890a5d-ac96-774b-bcce-b302099a8057';

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

test('what is sealed opens again, text and bytes alike', () => {
  for (const plain of ['', 'hsk_test_secret', 'Ana Pérez 🙂', 'x'.repeat(300_000)]) {
    expect(text(unseal(keyring, binding, seal(keyring, binding, plain)))).toBe(plain);
  }
  const bytes = randomBytes(1000);
  expect(Buffer.from(unseal(keyring, binding, seal(keyring, binding, bytes)))).toEqual(bytes);
});

test('the layout is version, key id, nonce, ciphertext, tag', () => {
  const sealed = seal(keyring, binding, 'abc');
  expect(sealed).toHaveLength(2 + 2 + 12 + 3 + 16);
  expect([...sealed.subarray(0, 4)]).toEqual([1, 2, ...Buffer.from('k2')]);
});

test('the same text sealed twice does not look the same', () => {
  expect(seal(keyring, binding, 'abc')).not.toEqual(seal(keyring, binding, 'abc'));
});

describe('what does not open', () => {
  test('in another row or column', () => {
    const sealed = seal(keyring, binding, 'secret');
    for (const other of ['', `${binding} `, binding.replace('tenant_secrets', 'nodes')]) {
      expect(() => unseal(keyring, other, sealed)).toThrow(SealError);
    }
  });

  test('under another key of the same id', () => {
    const other = openKeyring(`k2:${Buffer.alloc(32, 3).toString('base64')}`);
    const sealed = seal(keyring, binding, 'secret');
    expect(() => unseal(other, binding, sealed)).toThrow('do not open');
  });

  test('under a key that is not in the ring', () => {
    const sealed = seal(openKeyring(oldKey), binding, 'secret');
    expect(() => unseal(keyring, binding, sealed)).toThrow('not here');
  });

  test('with any one bit flipped', () => {
    const sealed = seal(keyring, binding, 'secret');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Uint8Array.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => unseal(keyring, binding, altered), `bit ${bit}`).toThrow(SealError);
    }
  });

  test('cut short or with something behind it', () => {
    const sealed = seal(keyring, binding, 'secret');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => unseal(keyring, binding, sealed.subarray(0, length))).toThrow(SealError);
    }
    expect(() => unseal(keyring, binding, Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow(
      SealError,
    );
  });
});

test('a rotated keyring opens what the old key sealed, and seals with the new one', () => {
  const old = createSealer(openKeyring(oldKey));
  const rotated = createSealer(openKeyring(`${newKey},${oldKey}`));
  expect(text(rotated.unseal(binding, old.seal(binding, 'secret')))).toBe('secret');
  const sealed = rotated.seal(binding, 'secret');
  expect(text(createSealer(keyring).unseal(binding, sealed))).toBe('secret');
  expect(() => old.unseal(binding, sealed)).toThrow('not here');
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
    `:${Buffer.alloc(32).toString('base64')}`,
    `k 1:${Buffer.alloc(32).toString('base64')}`,
    `${'k'.repeat(65)}:${Buffer.alloc(32).toString('base64')}`,
    `k1:${Buffer.alloc(31).toString('base64')}`,
    `k1:${Buffer.alloc(33).toString('base64')}`,
    `k1:${Buffer.alloc(32).toString('hex')}`,
    `${newKey},${newKey}`,
    Array.from({ length: 9 }, (_, index) => newKey.replace('k2', `k${index}`)).join(','),
  ])('that is unfit is refused, and not quoted: %j', (keys) => {
    expect(() => openKeyring(keys)).toThrow(SealError);
    expect(() => openKeyring(keys)).not.toThrow(/AAAA/);
  });
});
