import { expect, test } from 'vitest';
import { explainRefusal } from './link-refusal.ts';

const behind =
  'X-SVC-Timestamp is 900 s behind the clock of the service. At most 300 s are allowed.';

test.each([
  [
    401,
    JSON.stringify({ detail: behind }),
    'The clock of this machine is 900 s behind the service.',
  ],
  [401, '{"detail":"The signature does not match."}', 'The id or the secret is wrong'],
  [401, 'no JSON', 'The id or the secret is wrong'],
  [404, '', 'The server at the address in --link does not accept nodes.'],
  [421, '', 'Use a wss:// address.'],
  [429, '', 'Wait a minute.'],
  [503, '{"detail":5}', 'If it stays so, ask the operator.'],
  [400, '{"detail":"Send a subprotocol."}', 'with status 400. Send a subprotocol.'],
])('a refusal with %i and %j says what to do', (status, body, sentence) => {
  expect(explainRefusal({ status, body })).toContain(sentence);
});
