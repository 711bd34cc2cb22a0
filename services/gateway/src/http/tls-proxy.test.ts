import { afterEach, expect, test } from 'vitest';
import { type GatewayFixture, startGateways } from '../gateway.fixture.ts';

let gateways: GatewayFixture | undefined;
afterEach(() => gateways?.close());

async function statuses(env: NodeJS.ProcessEnv): Promise<Record<string, number>> {
  gateways = await startGateways(env);
  const url = `${gateways.baseUrls[0]}/openapi.json`;
  const ask = async (proto?: string): Promise<number> => {
    const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto };
    const response = await fetch(url, { headers });
    const body: unknown = await response.json();
    expect(body).toMatchObject(
      response.ok ? { openapi: '3.1.1' } : { code: 'misdirected_request' },
    );
    return response.status;
  };
  return {
    https: await ask('https'),
    http: await ask('http'),
    both: await ask('https, http'),
    none: await ask(),
  };
}

test('in production a request is answered 421 unless its trusted proxy reports https', async () => {
  const env = { SVC_ENVIRONMENT: 'production', TRUST_PROXY: 'loopback' };
  expect(await statuses(env)).toEqual({ https: 200, http: 421, both: 421, none: 421 });
});

test('in production only a trusted proxy can report https', async () => {
  const env = { SVC_ENVIRONMENT: 'production', TRUST_PROXY: '10.0.0.1' };
  expect(await statuses(env)).toEqual({ https: 421, http: 421, both: 421, none: 421 });
});

test('a sandbox accepts plain HTTP', async () => {
  expect(await statuses({ TRUST_PROXY: 'loopback' })).toEqual({
    https: 200,
    http: 200,
    both: 200,
    none: 200,
  });
});
