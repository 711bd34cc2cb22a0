import { readdirSync, readFileSync } from 'node:fs';
import { errorCodes } from '@svc/domain';
import { expect, test } from 'vitest';

/** The error codes that no test of this directory gets, each with another test that covers it. */
const elsewhere: Readonly<Record<string, string>> = {
  internal_error: 'the fuzz run, which proves that no request produces it',
  unavailable: 'services/gateway/src/outage.test.ts, which takes Postgres and Redis away',
  misdirected_request:
    'services/gateway/src/http/tls-proxy.test.ts, because a sandbox accepts plain HTTP',
  intent_expired: 'test/solana/api.test.ts, with the Solana rail on',
  intent_failed: 'test/solana/api.test.ts, with the Solana rail on',
  too_many_intents: 'test/solana/api.test.ts, with the Solana rail on',
};

test('a test of this directory gets every code of the catalogue', () => {
  const here = import.meta.dirname;
  const tests = readdirSync(here).filter((file) => file !== 'codes.test.ts');
  const text = tests.map((file) => readFileSync(`${here}/${file}`, 'utf8')).join('\n');
  const missing = errorCodes.filter((code) => !(code in elsewhere) && !text.includes(`'${code}'`));
  expect(missing).toEqual([]);
});
