import { expect, test } from 'vitest';
import { sandboxOptionsOf } from './sandbox-options.ts';

const optionsIn = (sandbox: unknown) => sandboxOptionsOf({ jobContext: { sandbox } });
const none = { failure: 'ats_rejected', actions: undefined, ignoresCancel: false };

test('what a tenant asks for is understood', () => {
  const asked = { failure: 'captcha', actions: 10_000, ignoresCancel: true };
  expect(optionsIn(asked)).toEqual(asked);
  expect(optionsIn({ actions: 0 })).toEqual({ ...none, actions: 0 });
});

test.each([
  [null],
  ['captcha'],
  [{ failure: 'toString', actions: 10_001, ignoresCancel: 'yes' }],
  [{ failure: 5, actions: -1 }],
  [{ failure: ['captcha'], actions: 1.5 }],
  [{ failure: 'no such code', actions: '3' }],
])('%j is as if it were not there', (sandbox) => {
  expect(optionsIn(sandbox)).toEqual(none);
});
