import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const opened: (Server | TcpProxy)[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const one of opened.splice(0).toReversed()) {
    if ('port' in one) await one.close();
    else await once(one.close(), 'close');
  }
});

async function echo(): Promise<TcpProxy> {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(server);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const proxy = await startTcpProxy('echo', () => ({ port: address.port }));
  opened.push(proxy);
  return proxy;
}

async function dial({ port }: TcpProxy): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function answer(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  while (text.length < bytes) text += String((await once(socket, 'data'))[0]);
  return text;
}

test('all bytes cross the proxy, in both directions', async () => {
  const proxy = await echo();
  const socket = await dial(proxy);
  socket.end('hello');
  expect(await answer(socket, 5)).toBe('hello');
  await once(socket, 'end');
});

test('a cut resets open connections, and new connections pass', async () => {
  const proxy = await echo();
  const socket = await dial(proxy);
  socket.write('x');
  await answer(socket, 1);
  const reset = once(socket, 'error');
  proxy.cut();
  expect((await reset)[0]).toMatchObject({ code: 'ECONNRESET' });
  const next = await dial(proxy);
  next.write('again');
  expect(await answer(next, 5)).toBe('again');
});

test('a severed proxy refuses until it is healed', async () => {
  const proxy = await echo();
  proxy.sever();
  const refused = connect(proxy.port, '127.0.0.1');
  sockets.push(refused);
  expect((await once(refused, 'error'))[0]).toMatchObject({ code: 'ECONNRESET' });
  proxy.heal();
  const next = await dial(proxy);
  next.write('back');
  expect(await answer(next, 4)).toBe('back');
});

test('nothing passes a stalled proxy, and everything arrives in order after it is healed', async () => {
  const proxy = await echo();
  const socket = await dial(proxy);
  socket.write('0');
  await answer(socket, 1);
  proxy.stall();
  for (const digit of '123456789') socket.write(digit);
  const came = answer(socket, 9);
  expect(
    await Promise.race([came, once(AbortSignal.timeout(150), 'abort').then(() => 'nothing')]),
  ).toBe('nothing');
  proxy.heal();
  expect(await came).toBe('123456789');
});

test('packets arrive in order with the given delay', async () => {
  const proxy = await echo();
  const socket = await dial(proxy);
  socket.write('0');
  await answer(socket, 1);
  proxy.delay(60);
  const startedMs = performance.now();
  socket.write('ab');
  socket.write('cd');
  expect(await answer(socket, 4)).toBe('abcd');
  // The delay applies in both directions, so the answer comes after two delays.
  expect(performance.now() - startedMs).toBeGreaterThan(115);
});
