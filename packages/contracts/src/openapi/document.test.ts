import { errorCatalogue, errorCodes, eventTypes } from '@svc/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { apiOperations, openApiDocument } from './document.ts';
import { codesOf } from './operation.ts';
import { problemType } from './problems.ts';

const document: unknown = openApiDocument();
const text = JSON.stringify(document);

/** Every object in the document, with the JSON Pointer to it. */
function* objectsIn(value: unknown, at = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  const members = Object.entries(value);
  if (!Array.isArray(value)) yield [at, Object.fromEntries(members)];
  for (const [name, inner] of members) {
    yield* objectsIn(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'openapi', ...JSON.parse(text) });
const everyObject = [...objectsIn(document)].filter(
  ([at]) => !/\/(?:example|value)(?:\/|$)/.test(at),
);

test('every reference leads somewhere', () => {
  const found = new Map(everyObject);
  for (const [at, { $ref }] of everyObject) {
    if (typeof $ref !== 'string') continue;
    expect(found.has($ref.slice(1)), `${at}: ${$ref}`).toBe(true);
  }
});

test('every schema is one that Ajv understands, and every example is valid by it', () => {
  let checked = 0;
  for (const [at, body] of everyObject) {
    if (!('schema' in body)) continue;
    const fragment = encodeURI(`${at}/schema`);
    const validate = ajv.getSchema(`openapi#${fragment}`);
    if (validate === undefined) throw new Error(`no schema at ${at}`);
    const { example, examples = {} } = body;
    const values = [
      ...(example === undefined ? [] : [example]),
      ...Object.values(examples ?? {}).map(({ value }) => value),
    ];
    for (const value of values) {
      expect(validate(value), `${at}: ${JSON.stringify(validate.errors)}`).toBe(true);
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(50);
});

test('every answer with a body of our own has an example', () => {
  for (const { operationId, request, answers } of apiOperations) {
    for (const [status, { schema, example }] of Object.entries(answers)) {
      if (schema !== undefined) expect(example, `${operationId} ${status}`).toBeDefined();
    }
    if (request !== undefined) {
      expect(Object.keys(request.examples).length, operationId).toBeGreaterThan(0);
    }
  }
});

test('every code of the catalogue is described, and no other', () => {
  const described = [...text.matchAll(/"code":\{"const":"([a-z_]+)"\}/g)].map(([, code]) => code);
  expect(new Set(described)).toEqual(new Set(errorCodes));
  for (const code of errorCodes) expect(text).toContain(`"${problemType(code)}"`);
});

test('an operation describes the status of each code that it may answer', () => {
  const { paths } = openApiDocument();
  for (const operation of apiOperations) {
    const path = operation.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    const described = JSON.stringify(paths[path]?.[operation.method]);
    for (const code of codesOf(operation)) {
      expect(described, operation.operationId).toContain(`"${errorCatalogue[code].status}":`);
    }
  }
});

test('every event is a webhook of the document', () => {
  expect(Object.keys(openApiDocument().webhooks)).toEqual([...eventTypes]);
});

test('operation ids are unique', () => {
  const ids = apiOperations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});
