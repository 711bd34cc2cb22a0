import { connectScriptedNode, linkRequest, openLinkSocket } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { startDispatching, type Dispatching } from '../dispatcher.fixture.ts';

let service: Dispatching | undefined;
afterEach(() => service?.end());

async function statusOf(proto: string | undefined): Promise<number> {
  if (service === undefined) throw new Error('no dispatcher was started');
  const request = linkRequest({ link: service.links[0] ?? '', ...(await service.newNode()) });
  const said = proto === undefined ? {} : { 'x-forwarded-proto': proto };
  try {
    const socket = await openLinkSocket({ ...request, headers: { ...request.headers, ...said } });
    socket.terminate();
    return 101;
  } catch (error) {
    if (error instanceof Error && 'status' in error) return Number(error.status);
    throw error;
  }
}

test('in production an upgrade gets 421 unless its trusted proxy forwards https', async () => {
  service = await startDispatching({
    env: { SVC_ENVIRONMENT: 'production', TRUST_PROXY: 'loopback' },
  });
  expect(await statusOf('https')).toBe(101);
  expect(await statusOf('http')).toBe(421);
  expect(await statusOf(undefined)).toBe(421);
});

test.each([
  ['the forwarded public address', '203.0.114.9', 'loopback', '203.0.114.9'],
  ['null for a forwarded private address', '10.0.0.9', 'loopback', null],
  ['null for a peer on loopback', undefined, undefined, null],
  ['null if another than a trusted proxy forwards it', '203.0.114.9', '10.0.0.1', null],
])('observedAddress of the welcome is %s', async (_name, forwarded, TRUST_PROXY, expected) => {
  service = await startDispatching(TRUST_PROXY === undefined ? {} : { env: { TRUST_PROXY } });
  const node = await connectScriptedNode({
    link: service.links[0] ?? '',
    ...(await service.newNode()),
    ...(forwarded !== undefined && { forwarded: { 'x-forwarded-for': forwarded } }),
  });
  expect(node.welcome.observedAddress).toBe(expected);
  await node.cut();
});

test('in production a forwarded https counts only from a trusted proxy', async () => {
  service = await startDispatching({
    env: { SVC_ENVIRONMENT: 'production', TRUST_PROXY: '10.0.0.1' },
  });
  expect(await statusOf('https')).toBe(421);
});
