import { expect, test } from 'vitest';
import type { GatewayDeps } from '../deps.ts';
import { signupEndpoints } from './signup.ts';

test('in production the sign-up routes do not exist', () => {
  const deps: GatewayDeps = Object.assign(Object.create(null), { environment: 'production' });
  expect(signupEndpoints(deps)).toEqual([]);
});
