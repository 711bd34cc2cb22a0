import { once } from 'node:events';
import { connect } from 'node:net';
import { sendSigned, waitUntil } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { control, rawCodeOf, sendBytesTo, sendTo, startApp } from '../app.fixture.ts';
import type { HttpServer } from './http-server.ts';

let server: HttpServer;
beforeAll(async () => {
  server = await startApp();
});
afterAll(() => server.close());

const sendBytes = (...chunks: (string | Buffer)[]) => sendBytesTo(server, ...chunks);

describe('a malformed request is answered with a problem document', () => {
  test.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['an unknown method', 'BREW /open HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no host', 'GET /open HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['a path of raw bytes', 'GET /\xff HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    [
      'a bad chunk',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    ],
    [
      'two lengths',
      'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ],
  ])('%s: 400', async (_name, bytes) => {
    expect(rawCodeOf(await sendBytes(Buffer.from(bytes, 'latin1')))).toBe('bad_request');
  });

  test('headers over 16 KiB: 431', async () => {
    const text = await sendBytes(
      `GET /open HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(17_000)}\r\n\r\n`,
    );
    expect(rawCodeOf(text)).toBe('headers_too_large');
  });

  test('CONNECT: 404', async () => {
    expect(rawCodeOf(await sendBytes('CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'))).toBe('not_found');
  });

  test('a request in flight gets its answer although garbage follows it', async () => {
    const request = 'GET /open HTTP/1.1\r\nhost: x\r\n\r\n';
    const text = await sendBytes(`${request}garbage garbage\r\n\r\n`);
    expect(text).toContain('{"open":true}');
  });

  test('a client that waits for 100 Continue gets it, or the final answer', async () => {
    const head = 'host: x\r\nexpect: 100-continue\r\nconnection: close\r\n';
    const large = `POST /v1/things HTTP/1.1\r\n${head}content-length: 999999\r\n\r\n`;
    expect(rawCodeOf(await sendBytes(large))).toBe('payload_too_large');
    const small = `POST /v1/things HTTP/1.1\r\n${head}content-length: 2\r\n\r\n`;
    const text = await sendBytes(small, '{}');
    expect(text.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401')).toBe(true);
  });
});

test('headers and bodies that do not end: 408', async () => {
  // Only slow requests go to this server. It would also refuse others while the test is blocked.
  const timeouts = { headersMs: 300, requestMs: 600, checkEveryMs: 50 };
  const impatient = await startApp({ timeouts });
  const line = 'GET /open HTTP/1.1\r\nhost: x\r\n';
  expect(rawCodeOf(await sendBytesTo(impatient, line))).toBe('request_timeout');
  const head = 'POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n';
  expect(rawCodeOf(await sendBytesTo(impatient, head, 'abc'))).toBe('request_timeout');
  await impatient.close();
});

test('the server keeps working when a client disconnects in the middle of a body', async () => {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc');
  socket.destroy();
  await once(socket, 'close');
  expect((await sendTo(server, { target: '/v1/things/a' })).status).toBe(200);
});

test('close lets requests in flight finish, keeps no connection alive and accepts none', async () => {
  const closing = await startApp();
  const before = control.release;
  const slow = sendBytesTo(closing, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await waitUntil(() => control.release !== before, { what: 'the handler' });
  const closed = closing.close();
  const late = { baseUrl: `http://127.0.0.1:${closing.port}`, method: 'GET', target: '/open' };
  await expect(sendSigned(late)).rejects.toThrow('ECONNREFUSED');
  control.release();
  await closed;
  expect(await slow).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*\{"slow":true\}$/i);
});

test('a request that is on its way when the server closes gets its answer', async () => {
  const closing = await startApp();
  const socket = connect(closing.port, '127.0.0.1');
  const request = 'GET /open HTTP/1.1\r\nhost: x\r\n\r\n';
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('utf8')));
  socket.write(request);
  await waitUntil(() => text.includes('{"open":true}'));
  text = '';
  // `write` and `close` are called in one turn of the event loop. The server therefore reads these
  // bytes after its decision to close.
  socket.write(request);
  const closed = closing.close();
  await once(socket, 'close');
  await closed;
  expect(text).toContain('{"open":true}');
  expect(text.toLowerCase()).toContain('connection: close');
});
