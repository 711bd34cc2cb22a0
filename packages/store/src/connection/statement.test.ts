import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import { statement } from './statement.ts';

test('a parameter is passed by its name, with its type, wherever it occurs', async () => {
  const { store } = await createFixture();
  const largest = 2n ** 63n - 1n;
  const pairs = statement(
    { id: 'text[]', amount: 'bigint[]', factor: 'numeric' },
    `SELECT ($id)[2] AS id, ($amount)[2] AS amount, ($amount)[1] AS nothing, $factor * 2 AS "doubled"`,
  );
  const values = { factor: '1.25', amount: [null, largest], id: ['a', 'b'] };
  expect(await pairs(store.query, values)).toEqual([
    { id: 'b', amount: largest, nothing: null, doubled: '2.50' },
  ]);
});

test('a statement that names other parameters than it declares is refused when it is written', () => {
  expect(() => statement({ id: 'uuid' }, 'SELECT $ids')).toThrow('uses $ids, which is not');
  expect(() => statement({ id: 'uuid', state: 'text' }, 'SELECT $id')).toThrow(
    'does not use its parameter $state',
  );
});
