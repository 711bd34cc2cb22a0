import { chromiumBinary } from '@svc/local';
import { beforeAll, describe, expect, test } from 'vitest';
import { fieldCases } from './cases/index.ts';
import { runFieldCase } from './field-case.ts';
import { notYet } from './not-yet.ts';

let binary: string;

beforeAll(async () => {
  binary = await chromiumBinary();
});

describe('a page that people meet ends as a careful person would end it', () => {
  test.for(fieldCases.map((fieldCase) => ({ id: fieldCase.id, fieldCase })))(
    '$id',
    async ({ id, fieldCase }) => {
      const { faults, dangers } = await runFieldCase(fieldCase, binary);
      const known = notYet.get(id);
      const verdict = {
        dangers: known === 'unsafe' ? [] : dangers,
        // A case that passes must be struck from `notYet`.
        isKnown:
          known === 'unstable' || (known !== undefined && faults.length + dangers.length > 0),
        faults: known === undefined ? faults : [],
      };
      expect(verdict).toEqual({ dangers: [], isKnown: known !== undefined, faults: [] });
    },
  );
});

test('each case has its own id, and each known failure is a case', () => {
  const ids = fieldCases.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...notYet.keys()].filter((id) => !ids.includes(id))).toEqual([]);
});
