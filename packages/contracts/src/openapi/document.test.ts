import { errorCatalogue, errorCodes, eventTypes } from '@svc/domain';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { apiOperations, openApiDocument } from './document.ts';
import { codesOf, templateOf } from './operation.ts';
import { problemType, requiredExtras } from './problems.ts';

const document: unknown = openApiDocument();
const text = JSON.stringify(document);

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

test('every body of a request refuses unknown members', () => {
  const bodies = everyObject.filter(([at]) =>
    /^\/paths\/.*\/requestBody\/content\/[^/]+\/schema$/.test(at),
  );
  const found = new Map(everyObject);
  const isOpen = (schema: Record<string, unknown>) => {
    const { $ref } = schema;
    const target = typeof $ref === 'string' ? (found.get($ref.slice(1)) ?? {}) : schema;
    return target['additionalProperties'] !== false;
  };
  expect(bodies.length).toBeGreaterThan(10);
  expect(bodies.filter(([, schema]) => isOpen(schema)).map(([at]) => at)).toEqual([]);
});

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
  const described = [...text.matchAll(/"value":\{[^{}]*"code":"([a-z_]+)"/g)].map(
    ([, code]) => code,
  );
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

const everyMember = everyObject
  .filter(([at]) => at.endsWith('/properties') && !at.endsWith('/if/properties'))
  .flatMap(([at, properties]) =>
    Object.entries(properties).map(([name, schema]): [string, Record<string, unknown>] => [
      `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      Object(schema),
    ]),
  );

test('every member has a description and an example that its schema accepts', () => {
  const wanting = everyMember.filter(
    ([, { description, examples }]) => typeof description !== 'string' || !Array.isArray(examples),
  );
  expect(wanting.map(([at]) => at)).toEqual([]);
  const distinct = new Map(everyMember.map((one) => [JSON.stringify(one[1]), one]));
  const refused = [...distinct.values()].filter(([at, { examples }]) => {
    const validate = ajv.getSchema(`openapi#${encodeURI(at)}`);
    return [examples].flat().some((value) => validate?.(value) !== true);
  });
  expect(refused.map(([at]) => at)).toEqual([]);
  expect(everyMember.length).toBeGreaterThan(150);
});

test('only strings have a pattern', () => {
  const patterned = everyObject.filter(([, { pattern }]) => typeof pattern === 'string');
  const others = patterned.filter(([, { type }]) => type !== 'string');
  expect(others.map(([at]) => at)).toEqual([]);
  expect(patterned.length).toBeGreaterThan(10);
});

test('every operation and every parameter has a description', () => {
  const { paths, webhooks } = openApiDocument();
  const operations = [paths, webhooks].flatMap((group) =>
    Object.values(group).flatMap((methods) => Object.values(Object(methods))),
  );
  const parts = operations.flatMap((operation) => [
    operation,
    ...(Object(operation).parameters ?? []),
  ]);
  expect(parts.filter((part) => typeof Object(part).description !== 'string')).toEqual([]);
});

test('generated clients accept a code, a type and a status that are added later', () => {
  const lists = everyMember.filter(([, { enum: values, anyOf = [] }]) =>
    [{ enum: values }, anyOf].flat().some((one) => Object(one).enum !== undefined),
  );
  const answers = lists.filter(
    ([at]) => !at.includes('/requestBody/') || at.startsWith('/webhooks'),
  );
  const closed = answers.filter(
    ([at]) => ajv.getSchema(`openapi#${encodeURI(at)}`)?.('added_later') !== true,
  );
  expect(closed.map(([at]) => at)).toEqual([]);
  expect(answers.length).toBeGreaterThan(10);
});

const problemContents = everyObject.filter(([at]) => at.endsWith('/application~1problem+json'));

test('a problem without a member that its code requires does not match its answer', () => {
  const accepted: string[] = [];
  let left = 0;
  for (const [at, body] of problemContents) {
    const validate = ajv.getSchema(`openapi#${encodeURI(`${at}/schema`)}`);
    for (const problem of examplesOf(body)) {
      const code = errorCodes.find((one) => one === Object(problem).code);
      for (const member of (code && requiredExtras[code]) ?? []) {
        left += 1;
        const { [member]: _, ...rest } = Object(problem);
        if (validate?.(rest) === true) accepted.push(`${at}: ${code} without ${member}`);
      }
    }
  }
  expect(accepted).toEqual([]);
  expect(left).toBeGreaterThan(60);
});

test('links name operations of the document and members of the answer', () => {
  const ids = new Set(apiOperations.map(({ operationId }) => operationId));
  const links = apiOperations.flatMap(({ answers }) =>
    Object.values(answers).flatMap(({ links: all, example }) =>
      Object.values(all ?? {}).map((link) => ({ ...link, example })),
    ),
  );
  for (const { operationId, from, example } of links) {
    expect(ids).toContain(operationId);
    expect(Object(example)[from.slice(1)]).toEqual(expect.any(String));
  }
  expect(links.length).toBeGreaterThanOrEqual(5);
});
