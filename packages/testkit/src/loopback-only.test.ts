import { execFile } from 'node:child_process';
import { lookup, Resolver } from 'node:dns';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnvironment } from './test-environment.ts';

const elsewhere = ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'];

function codeOf(host: string): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 9 });
    socket.once('error', (error) => resolve('code' in error ? error.code : error));
    socket.once('connect', () => resolve('connected'));
  });
}

test.each(elsewhere)('a test cannot connect to %s', async (host) => {
  expect(await codeOf(host)).toBe('ERR_IP_BLOCKED');
});

test('a process that a test starts cannot connect to another machine', async () => {
  const script = `fetch('http://192.0.2.1/').catch(({ cause }) => console.log(cause.code))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    env: bareEnvironment(),
  });
  expect(stdout.trim()).toBe('ERR_IP_BLOCKED');
});

test('a test reaches no name server unless it sets one itself', async () => {
  await expect(promisify(lookup)('example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const resolve4 = new Promise((resolve) => {
    new Resolver().resolve4('example.com', (error) => resolve(error?.code));
  });
  expect(await resolve4).toBe('ECONNREFUSED');
});

test('a test can connect to this machine', async () => {
  expect(await codeOf('localhost')).toBe('ECONNREFUSED');
  expect(await codeOf('127.0.0.1')).toBe('ECONNREFUSED');
});
