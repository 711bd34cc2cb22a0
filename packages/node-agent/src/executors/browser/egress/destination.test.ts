import { expect, test } from 'vitest';
import { destinationKey, readAuthority, readDestination, routeOf } from './destination.ts';

test.each([
  ['Boards.Example.com:443', { host: 'boards.example.com', port: 443 }],
  ['[2606:4700::1111]:443', { host: '[2606:4700::1111]', port: 443 }],
  ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
  ['bücher.example:80', { host: 'xn--bcher-kva.example', port: 80 }],
])('the target %s of a CONNECT is read', (text, destination) => {
  expect(readAuthority(text)).toEqual(destination);
});

test.each([
  '',
  'example.com',
  'example.com:',
  'example.com:0',
  'example.com:65536',
  'example.com:443/path',
  'user@example.com:443',
  'example.com:443:443',
  '::1:443',
  '[::1:443',
  'http://example.com:80',
  ' example.com:443',
  'example.com:4430000',
])('the target %j of a CONNECT is not read', (text) => {
  expect(readAuthority(text)).toBeUndefined();
});

test('a URL without a port has the port of its protocol', () => {
  expect(readDestination('http://a.example/x')).toEqual({ host: 'a.example', port: 80 });
  expect(readDestination('https://a.example/')).toEqual({ host: 'a.example', port: 443 });
  expect(readDestination('https://a.example:80/')).toEqual({ host: 'a.example', port: 80 });
});

test.each([
  'file:///etc/passwd',
  'chrome://version',
  'ftp://a.example/',
  'data:,',
  'ws://a.example/',
  'x',
])('the URL %s has no destination', (url) => {
  expect(readDestination(url)).toBeUndefined();
});

const noMap = new Map();

test.each([
  ['localhost', 80],
  ['printer', 80],
  ['router.lan', 80],
  ['nas.local', 443],
  ['metadata.google.internal', 80],
  ['127.0.0.1', 80],
  ['10.1.2.3', 443],
  ['172.16.0.1', 443],
  ['192.168.1.1', 80],
  ['169.254.169.254', 80],
  ['100.64.0.1', 80],
  ['224.0.0.251', 80],
  ['0.0.0.0', 80],
  ['[::1]', 80],
  ['[::ffff:192.168.1.1]', 80],
  ['[fe80::1]', 80],
  ['[fd00::1]', 80],
  ['[ff02::fb]', 80],
  ['[64:ff9b::a00:1]', 80],
  ['boards.example.com', 22],
  ['boards.example.com', 8080],
])('%s on port %i is refused by its text', (host, port) => {
  expect(routeOf({ host, port }, noMap)).toEqual({ kind: 'refused' });
});

test('a public name is looked up, and a public address is not', () => {
  const port = 443;
  expect(routeOf({ host: 'a.example', port }, noMap)).toEqual({
    kind: 'name',
    name: 'a.example',
    port,
  });
  expect(routeOf({ host: '93.184.216.34', port }, noMap)).toMatchObject({
    kind: 'address',
    address: '93.184.216.34',
  });
  expect(routeOf({ host: '[2606:4700::1111]', port }, noMap)).toMatchObject({
    address: '2606:4700::1111',
  });
});

test('a mapped host goes to its address without a check, and only on its port', () => {
  const to = { address: '127.0.0.1', port: 4000 };
  const map = new Map([[destinationKey({ host: 'jobs.example', port: 8443 }), to]]);
  expect(routeOf({ host: 'jobs.example', port: 8443 }, map)).toEqual({ kind: 'mapped', ...to });
  expect(routeOf({ host: 'jobs.example', port: 443 }, map).kind).toBe('name');
});
