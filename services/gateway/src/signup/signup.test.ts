import { expect, test } from 'vitest';
import type { GatewayDeps } from '../deps.ts';
import { signupEndpoints } from './signup.ts';

test('in production nobody signs up: there are no such routes', () => {
  const deps: GatewayDeps = Object.assign(Object.create(null), { environment: 'production' });
  expect(signupEndpoints(deps)).toEqual([]);
});
