import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromWireId, idPrefixes, toWireId } from './ids.ts';

const uuid = '01890a5d-ac96-774b-bcce-b302099a8057';
const wireId = 'sub_01h455vb4pex5vsknk084sn02q';

test('an id is the TypeID of its UUID', () => {
  // Both ids are from an example in the TypeID specification. Only the prefix is ours.
  expect(toWireId('sub', uuid)).toBe(wireId);
  expect(fromWireId('sub', wireId)).toBe(uuid);
});

test('every UUIDv7 is parsed back from the wire, under its own prefix only', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.constantFrom(...idPrefixes), (id, prefix) => {
      const wire = toWireId(prefix, id);
      for (const other of idPrefixes) {
        expect(fromWireId(other, wire)).toBe(other === prefix ? id : undefined);
      }
    }),
  );
});

test('wire ids sort like their UUIDs', () => {
  const pairs = fc.tuple(fc.uuid({ version: 7 }), fc.uuid({ version: 7 }));
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      expect(toWireId('sub', a) < toWireId('sub', b)).toBe(a < b);
    }),
  );
});

test.each([
  '',
  'sub',
  'sub_',
  uuid,
  wireId.toUpperCase(),
  `${wireId} `,
  ` ${wireId}`,
  `${wireId}\n`,
  wireId.slice(0, -1),
  `${wireId}0`,
  wireId.replace('sub_', 'sub-'),
  wireId.replace('sub_', 'sub__'),
  'sub_81h455vb4pex5vsknk084sn02q',
  'sub_01h455vb4pex5vsknk084sn02l',
  'sub_01h455vb4pex5vsknk084sn02u',
  'sub_zzzzzzzzzzzzzzzzzzzzzzzzzz',
])('a malformed id is refused: %j', (text) => {
  expect(fromWireId('sub', text)).toBeUndefined();
});
