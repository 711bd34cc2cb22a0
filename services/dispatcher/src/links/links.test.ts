import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { nodeLinkPath } from '@svc/contracts';
import { badFramesMax, frameFromNodeBytesMax, linkSilentMs } from '@svc/domain';
import {
  linkRequest,
  LinkRefused,
  openLinkSocket,
  waitUntil,
  type LinkRequest,
} from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { useDispatching } from '../dispatcher.fixture.ts';

const service = await useDispatching({ dispatchers: 2 });
const credentials = await service.newNode();
const link = service.links[0] ?? '';

async function refusalOf(spoil: (request: LinkRequest) => LinkRequest): Promise<LinkRefused> {
  try {
    const socket = await openLinkSocket(spoil(linkRequest({ link, ...credentials })));
    socket.terminate();
  } catch (error) {
    if (error instanceof LinkRefused) return error;
    throw error;
  }
  throw new Error('the link was accepted');
}

function detailOf({ body }: LinkRefused): unknown {
  return JSON.parse(body).detail;
}

describe('an upgrade is refused', () => {
  test.each<[string, number, string, (request: LinkRequest) => LinkRequest]>([
    [
      'on another path, before any other check',
      404,
      'not_found',
      (request) => ({
        ...request,
        url: request.url.replace(nodeLinkPath, '/node/v2'),
        headers: {},
      }),
    ],
    ['without a signature', 401, 'unauthenticated', (request) => ({ ...request, headers: {} })],
    [
      'for a query that was not signed',
      401,
      'unauthenticated',
      (request) => ({ ...request, url: `${request.url}?x=1` }),
    ],
    [
      'for an unknown node',
      401,
      'unauthenticated',
      (request) => ({ ...request, headers: { ...request.headers, 'x-svc-node': 'nod_nobody' } }),
    ],
    [
      'with two identities',
      401,
      'unauthenticated',
      (request) => ({ ...request, headers: { ...request.headers, 'x-svc-tenant': 'tnt_x' } }),
    ],
    [
      'with a timestamp outside the window',
      401,
      'unauthenticated',
      (request) => ({
        ...request,
        headers: { ...request.headers, 'x-svc-timestamp': '1700000000' },
      }),
    ],
    [
      'without the subprotocol',
      400,
      'bad_request',
      (request) => ({ ...request, subprotocols: ['other'] }),
    ],
  ])('%s', async (_name, status, code, spoil) => {
    const refusal = await refusalOf(spoil);
    expect(refusal.status).toBe(status);
    expect(refusal.headers['content-type']).toBe('application/problem+json');
    const problem: Record<string, unknown> = JSON.parse(refusal.body);
    expect(problem).toMatchObject({ status, code });
    expect(problem['requestId']).toBe(refusal.headers['x-request-id']);
    const scheme = status === 401 ? 'SVC1-HMAC-SHA256' : undefined;
    expect(refusal.headers['www-authenticate']).toBe(scheme);
  });

  test('with the same answer for an unknown node and a wrong secret', async () => {
    const unknown = await refusalOf((request) => ({
      ...request,
      headers: { ...request.headers, 'x-svc-node': 'nod_01kajh8z2wf5xav9c3q7m4n6rt' },
    }));
    const wrong = await refusalOf(() =>
      linkRequest({ link, nodeId: credentials.nodeId, secret: 'nsk_wrong' }),
    );
    expect(detailOf(unknown)).toBe(detailOf(wrong));
  });

  test('with a plain HTTP answer if the request asks for no upgrade', async () => {
    const { headers, url: signed } = linkRequest({ link, ...credentials });
    const url = new URL(nodeLinkPath, link.replace('ws:', 'http:'));
    const asked = await fetch(signed.replace('ws:', 'http:'), {
      headers: { ...headers, 'x-request-id': 'mine' },
    });
    expect(asked.status).toBe(400);
    expect(asked.headers.get('x-request-id')).toBe('mine');
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(new URL('/', url))).status).toBe(404);
    const posted = await fetch(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('if a proxy has taken out `Connection: Upgrade`, and the signature stays unused', async () => {
    const signed = linkRequest({ link, ...credentials });
    const asked = httpRequest(signed.url.replace('ws:', 'http:'), {
      headers: {
        ...signed.headers,
        upgrade: 'websocket',
        connection: 'close',
        'sec-websocket-protocol': signed.subprotocols.join(),
      },
    }).end();
    const [answer] = await once(asked, 'response');
    answer.resume();
    expect(answer.statusCode).toBe(400);
    (await openLinkSocket(signed)).terminate();
  });
});

describe('a signature', () => {
  test('opens one link only, across all dispatchers and after a flush of Redis', async () => {
    const request = linkRequest({ link, ...credentials });
    const first = await openLinkSocket(request);
    const elsewhere = request.url.replace(link, service.links[1] ?? '');
    await service.flush();
    for (const url of [request.url, elsewhere]) {
      const replay = openLinkSocket({ ...request, url });
      await expect(replay).rejects.toMatchObject({ status: 401 });
    }
    // The replay is also refused if its signature header has an additional value.
    const signature = `v2=x, ${request.headers['x-svc-signature']}`;
    const disguised = { ...request.headers, 'x-svc-signature': signature };
    await expect(openLinkSocket({ ...request, headers: disguised })).rejects.toMatchObject({
      status: 401,
    });
    expect(first.readyState).toBe(first.OPEN);
    first.terminate();
    (await openLinkSocket(linkRequest({ link, ...credentials }))).terminate();
  });

  test('whose upgrade was refused for its subprotocol can still open a link', async () => {
    const request = linkRequest({ link, ...credentials });
    const wrong = openLinkSocket({ ...request, subprotocols: ['other'] });
    await expect(wrong).rejects.toMatchObject({ status: 400 });
    (await openLinkSocket(request)).terminate();
  });
});

describe('a link', () => {
  test('is closed by the third bad frame, and each bad frame is answered', async () => {
    const node = await service.connect();
    const bad = ['{', '{"type":"browse"}', '{"type":"accept"}'];
    expect(bad).toHaveLength(badFramesMax);
    for (const text of bad) node.sendText(text);
    expect((await node.closed).code).toBe(1008);
    expect(node.frames.flatMap((frame) => (frame.type === 'error' ? [frame.code] : []))).toEqual([
      'malformed_frame',
      'unknown_type',
      'invalid_frame',
    ]);
  });

  test('refuses a second hello, frames before the first hello, and binary frames', async () => {
    const node = await service.connect();
    node.send({ type: 'hello', agentVersion: 'x', jobTypes: [], slots: 1, running: [] });
    expect(await node.next('error')).toMatchObject({ code: 'unexpected_frame' });
    node.sendText(new Uint8Array([123]));
    expect(await node.next('error')).toMatchObject({ code: 'malformed_frame' });
    await node.close();
    const socket = await openLinkSocket(linkRequest({ link, ...(await service.newNode()) }));
    const answered = new Promise((resolve) => socket.once('message', resolve));
    socket.send('{"type":"drain"}');
    expect(String(await answered)).toContain('unexpected_frame');
    socket.terminate();
  });

  test('is closed at once by an oversized frame', async () => {
    const node = await service.connect();
    node.sendText(`"${'x'.repeat(frameFromNodeBytesMax)}"`);
    expect((await node.closed).code).toBe(1009);
  });

  test('that is silent for 15 s is dropped, and its node gets no offers', async () => {
    const node = await service.connect();
    node.deafen();
    service.clock.advance(linkSilentMs);
    await waitUntil(async () => {
      const { id, replied } = await service.post();
      await replied;
      return (await service.row(id))?.state === 'rejected';
    });
    expect(node.frames.at(-1)?.type).toBe('welcome');
    await node.cut();
  });

  test('is closed by a dispatcher that drains (1012), and its run goes on at another dispatcher', async () => {
    const own = await service.newNode();
    const node = await service.connect({ ...own, dispatcher: 1 });
    const { id } = await service.post();
    const submissionId = await node.runNext();
    const closing = service.close(1);
    expect((await node.closed).code).toBe(1012);
    const again = await service.connect({ ...own, running: [submissionId] });
    expect(again.welcome.stop).toEqual([]);
    again.send({ type: 'completed', submissionId, usage: {}, result: {} });
    await again.next('ack');
    expect((await service.row(id))?.state).toBe('settling');
    await again.close();
    await closing;
  });
});
