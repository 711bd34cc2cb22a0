import { testAuthor } from '@svc/testkit';
import { expect, test } from 'vitest';
import { createFixture } from '../store.fixture.ts';
import {
  createOperator,
  disableOperator,
  findOperatorCredentials,
  hasOperators,
  listOperators,
} from './operators.ts';

test('an operator is in force from its creation until it is disabled', async () => {
  const { store } = await createFixture();
  const id = store.newId();
  const create = (name: string, operatorId: string) =>
    createOperator(store, { id: operatorId, name, secret: 'osk_1' }, testAuthor);
  expect(await hasOperators(store)).toBe(false);
  expect(await create('ada', id)).toEqual({ kind: 'created' });
  expect(await create('ada', store.newId())).toEqual({ kind: 'name_taken' });
  expect(await hasOperators(store)).toBe(true);
  const credentials = { operatorId: id, disabled: false, secret: 'osk_1' };
  expect(await findOperatorCredentials(store, id)).toEqual(credentials);
  const disabled = await disableOperator(store, id, testAuthor);
  expect(disabled?.disabledAt).toBeInstanceOf(Date);
  expect(await disableOperator(store, id, testAuthor)).toEqual(disabled);
  expect(await hasOperators(store)).toBe(false);
  expect(await findOperatorCredentials(store, id)).toEqual({ ...credentials, disabled: true });
  expect(await listOperators(store, { before: null, limit: 10 })).toEqual([disabled]);
  expect(await listOperators(store, { before: id, limit: 10 })).toEqual([]);
  expect(await disableOperator(store, store.newId(), testAuthor)).toBeNull();
});
