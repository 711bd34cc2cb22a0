import { SubmissionsQuery } from '@svc/contracts';
import { expect, test } from 'vitest';
import { compileQuery } from './query.ts';

const read = compileQuery(SubmissionsQuery);
const refusals = (target: string) => {
  const reading = read(target);
  if (reading.kind === 'query') throw new Error('the query was accepted');
  expect(reading.code).toBe('validation_error');
  return reading.extras.errors?.map(({ path, parameter, message }) => {
    expect(path).toBe('');
    return `${parameter} ${message}`;
  });
};

test('known parameters are read and percent-decoded', () => {
  for (const target of ['/v1/submissions', '/v1/submissions?']) {
    expect(read(target)).toEqual({ kind: 'query', query: {} });
  }
  const target =
    '/x?li%6Dit=7&status=running&idempotencyKey=a+b%2Bc&createdAfter=2026-11-20T09:30:00%2B01:00';
  expect(read(target)).toEqual({
    kind: 'query',
    query: {
      limit: 7,
      status: 'running',
      idempotencyKey: 'a b+c',
      createdAfter: '2026-11-20T09:30:00+01:00',
    },
  });
});

test('every unknown parameter is named once, percent-decoded', () => {
  expect(refusals('/v1/x?a=1&li%6Dit=2&a=3&b')).toEqual([
    'a is not a known parameter of this endpoint',
    'b is not a known parameter of this endpoint',
  ]);
});

test('a query with too many parameters is refused after the first of them', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `p${index}`);
  expect(refusals(`/v1/submissions?${many.join('&')}`)).toEqual(
    many.slice(0, 7).map((name) => `${name} is not a known parameter of this endpoint`),
  );
  expect(refusals(`/v1/submissions?${'limit=1&'.repeat(2_000)}`)).toEqual([
    'limit must not be given more than once',
  ]);
  // An empty text between two separators does not count as a parameter.
  expect(read(`/v1/submissions?${'&'.repeat(5_000)}limit=1`)).toMatchObject({ kind: 'query' });
});

test.each([
  ['limit=0', 'limit must be 1 or more'],
  ['limit=101', 'limit must be 100 or less'],
  ['limit=1.5', 'limit must be a whole number'],
  ['limit=', 'limit must be a whole number'],
  ['limit=-1', 'limit must be a whole number'],
  ['limit=1&limit=2', 'limit must not be given more than once'],
  ['idempotencyKey=', 'idempotencyKey must have 1 character or more'],
  ['idempotencyKey=a%00', 'idempotencyKey must not contain U+0000'],
  ['status=settling', 'status must be one of pending, dispatched, running'],
  ['createdAfter=2026-11-20', 'createdAfter must be an RFC 3339 time'],
  ['createdBefore=2026-02-30T00:00:00Z', 'createdBefore must be an RFC 3339 time'],
  ['createdBefore=2026-11-20T00:00:00.0001Z', 'createdBefore must be an RFC 3339 time'],
])('%s is refused', (query, message) => {
  const [first, ...more] = refusals(`/v1/submissions?${query}`) ?? [];
  expect(first).toContain(message);
  expect(more).toEqual([]);
});
