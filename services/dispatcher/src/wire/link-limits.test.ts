import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createLogger, systemClock } from '@svc/runtime';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { useCertificate, useDispatching } from '../dispatcher.fixture.ts';
import { createFrameRate } from '../links/frame-rate.ts';
import { transportOf, unreadBytesMax } from './link-socket.ts';

const { ca, env } = useCertificate();
const service = await useDispatching({ env });

describe('over TLS', () => {
  test('a node runs its jobs, and a node that does not trust the certificate does not connect', async () => {
    const node = await service.connect({ ca });
    node.autoPilot();
    const { replied, id } = await service.post();
    expect(await replied).toBe('dispatched');
    await node.next('ack');
    expect((await service.row(id))?.state).toBe('settling');
    await expect(service.connect()).rejects.toThrow('self-signed');
    await node.close();
  });
});

describe('a node that floods', () => {
  test('gets an error for each frame over the limit, and the third error closes its link', async () => {
    const node = await service.connect({ ca });
    const decline = JSON.stringify({ type: 'decline', offerId: 'ofr_x', reason: 'busy' });
    for (let sent = 0; sent < 5_000; sent += 1) node.sendText(decline);
    expect((await node.closed).code).toBe(1008);
    const errors = node.frames.flatMap((frame) => (frame.type === 'error' ? [frame.code] : []));
    expect(errors).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
  });

  test('may send more frames with more slots and runs, and fewer large frames', () => {
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const allowed = (bytes: number, hello?: { slots: number; running: number }): number => {
      const rate = createFrameRate(clock);
      if (hello !== undefined) rate.allowFor(hello);
      let taken = 0;
      while (rate.take(bytes)) taken += 1;
      return taken;
    };
    const usual = allowed(100);
    expect(allowed(100, { slots: 200, running: 0 })).toBeGreaterThan(5 * usual);
    // After a new `hello`, a node may send two frames for each run: it repeats an earlier frame and
    // sends a `usage`.
    expect(allowed(100, { slots: 1, running: 1_001 })).toBeGreaterThan(2 * 1_001);
    expect(allowed(256 * 1024)).toBeLessThan(usual / 50);
  });

  test('may send again after a pause', () => {
    let nowMs = 0;
    const rate = createFrameRate({ ...systemClock, monotonicMs: () => nowMs });
    while (rate.take(100));
    nowMs += 1_000;
    expect(rate.take(100)).toBe(true);
  });
});

async function openTransport() {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`);
  onTestFinished(async () => {
    client.terminate();
    http.close();
    await once(http, 'close');
  });
  const connected: Promise<[WebSocket, IncomingMessage]> = new Promise((resolve) =>
    server.once('connection', (...given) => resolve(given)),
  );
  const [[socket, request]] = await Promise.all([connected, once(client, 'open')]);
  const connection = request.socket;
  const logger = createLogger({ service: 'test', level: 'silent' });
  return { client, socket, connection, transport: transportOf(socket, connection, logger) };
}

test('the frames of one turn of the event loop leave together, in order, before a close', async () => {
  const { client, connection, transport } = await openTransport();
  const got: string[] = [];
  client.on('message', (data: Buffer) => got.push(data.toString()));
  const closed = once(client, 'close');
  for (const text of ['a', 'b', 'c']) transport.send(text);
  expect(connection.writableCorked).toBe(1);
  expect(connection.writableLength).toBeGreaterThan(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(connection.writableCorked).toBe(0);
  transport.send('d');
  transport.close(1008, 'enough');
  await closed;
  expect(got).toEqual(['a', 'b', 'c', 'd']);
});

describe('a node that does not read', () => {
  test('is dropped when its unread frames reach the limit', async () => {
    const { client, socket, transport } = await openTransport();
    client.pause();
    const frame = 'x'.repeat(256 * 1024);
    let highest = 0;
    // It may take many frames to reach the limit, because the kernel buffers the first megabytes,
    // and these do not count as unread.
    for (let sent = 0; sent < 200 && socket.readyState === socket.OPEN; sent += 1) {
      transport.send(frame);
      highest = Math.max(highest, socket.bufferedAmount);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(socket.readyState).not.toBe(socket.OPEN);
    expect(highest).toBeGreaterThan(unreadBytesMax);
    expect(highest).toBeLessThan(unreadBytesMax + 2 * frame.length);
  });
});
