import { errorCatalogue, errorCodes, eventTypes } from '@svc/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { apiOperations, openApiDocument } from './document.ts';
import { codesOf, templateOf } from './operation.ts';
import { problemType } from './problems.ts';

const document: unknown = openApiDocument();
const text = JSON.stringify(document);

/** Every object in the document with its JSON Pointer. */
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

test('every reference has a target', () => {
  const found = new Map(everyObject);
  const broken = everyObject
    .map(([, { $ref }]) => $ref)
    .filter((ref) => typeof ref === 'string' && !found.has(ref.slice(1)));
  expect(broken).toEqual([]);
});

test('Ajv accepts every schema, and every example matches its schema', () => {
  const violations: string[] = [];
  let checked = 0;
  for (const [at, body] of everyObject) {
    if (!('schema' in body)) continue;
    const validate = ajv.getSchema(`openapi#${encodeURI(`${at}/schema`)}`);
    if (validate === undefined) throw new Error(`no schema at ${at}`);
    for (const value of examplesOf(body)) {
      checked += 1;
      if (validate(value) !== true) violations.push(`${at}: ${ajv.errorsText(validate.errors)}`);
    }
  }
  expect(violations).toEqual([]);
  expect(checked).toBeGreaterThan(50);
});

function examplesOf({ example, examples }: Record<string, unknown>): unknown[] {
  const several = Object.values(examples ?? {}).map(({ value }) => value);
  return example === undefined ? several : [example, ...several];
}

test('every body has an example', () => {
  const answers = apiOperations.flatMap((operation) => Object.values(operation.answers));
  expect(
    answers.filter(({ schema, example }) => schema !== undefined && example === undefined),
  ).toEqual([]);
  const bodies = apiOperations.flatMap(({ request }) => (request === undefined ? [] : [request]));
  expect(bodies.filter(({ examples }) => Object.keys(examples).length === 0)).toEqual([]);
});

test('the document describes exactly the codes of the catalogue', () => {
  const described = [...text.matchAll(/"code":\{"const":"([a-z_]+)"\}/g)].map(([, code]) => code);
  expect(new Set(described)).toEqual(new Set(errorCodes));
  for (const code of errorCodes) expect(text).toContain(`"${problemType(code)}"`);
});

test('an operation describes the status of each of its codes', () => {
  const { paths } = openApiDocument();
  for (const operation of apiOperations) {
    const described = JSON.stringify(paths[templateOf(operation.path)]?.[operation.method]);
    for (const code of codesOf(operation)) {
      expect(described).toContain(`"${errorCatalogue[code].status}":`);
    }
  }
});

test('every event is described as a webhook', () => {
  expect(Object.keys(openApiDocument().webhooks)).toEqual([...eventTypes]);
});

test('operation ids are unique', () => {
  const ids = apiOperations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});
