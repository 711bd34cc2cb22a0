import { toWireId } from '@svc/domain';
import { expect, test } from 'vitest';
import { decodeId } from './wire-ids.ts';

test('an id that was decoded before is decoded for its own prefix only', () => {
  const uuid = '019ab000-0000-7000-8000-000000000001';
  const text = toWireId('tnt', uuid);
  for (let time = 0; time < 2; time += 1) {
    expect(decodeId('tnt', text)).toBe(uuid);
    expect(decodeId('key', text)).toBeUndefined();
    expect(decodeId('tnt', text.toUpperCase())).toBeUndefined();
  }
});
