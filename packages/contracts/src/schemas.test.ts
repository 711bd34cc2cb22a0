import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import * as contracts from './index.ts';

/**
 * Services do not check the schemas against the meta-schema, because loading it costs CPU.
 * Therefore this test checks the schemas.
 */
test('every exported schema is valid by the meta-schema of JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const schemas = Object.entries(contracts).flatMap(([name, value]) =>
    typeof value === 'object' && ('type' in value || 'anyOf' in value) ? [{ name, value }] : [],
  );
  expect(schemas.length).toBeGreaterThan(20);
  const invalid = schemas.filter(({ value }) => ajv.validateSchema(value) !== true);
  expect(invalid.map(({ name }) => name)).toEqual([]);
  expect(ajv.validateSchema({ type: 'text' })).toBe(false);
});
