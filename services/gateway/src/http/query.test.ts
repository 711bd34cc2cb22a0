import { expect, test } from 'vitest';
import { unknownParameters } from './query.ts';

test('a target without a query, or with known parameters only, passes', () => {
  for (const target of ['/v1/submissions', '/v1/submissions?', '/v1/submissions?limit=1&limit=2']) {
    expect(unknownParameters(target, ['limit'])).toBeUndefined();
  }
});

test('every unknown parameter is named, once and decoded', () => {
  const answer = unknownParameters('/v1/x?a=1&li%6Dit=2&a=3&b', ['limit']);
  expect(answer).toMatchObject({
    code: 'validation_error',
    extras: {
      errors: [
        { path: '', parameter: 'a', keyword: 'query' },
        { path: '', parameter: 'b', keyword: 'query' },
      ],
    },
  });
  expect(answer?.extras.errors).toHaveLength(2);
});
