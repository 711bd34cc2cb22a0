import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { selfSigned } from '@svc/testkit';
import { afterEach, expect, test } from 'vitest';
import { type Cleanups, closeAll, listen, proxyTo } from './egress.fixture.ts';
import { fileBytesMax } from './fetch-file.ts';

const cleanups: Cleanups = [];
afterEach(() => closeAll(cleanups));

const signal = new AbortController().signal;
const content = Buffer.from('the resume');

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const sha256 = hashOf(content);

async function server(answer: http.RequestListener) {
  return listen(http.createServer(answer), cleanups);
}

test('a file is fetched, and its bytes are counted', async () => {
  const port = await server((_request, response) => response.end(content));
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  const fetched = await proxy.fetchFile({ url: 'http://files.example/a.pdf', sha256, signal });
  expect(fetched).toEqual({ kind: 'fetched', bytes: content });
  expect(proxy.counts().receivedBytes).toBeGreaterThan(content.length);
});

test('a file is fetched over TLS, and only with a certificate for its name', async () => {
  const { cert, key } = selfSigned();
  const port = await listen(
    https.createServer({ cert, key }, (_request, response) => response.end(content)),
    cleanups,
  );
  const known = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...known, cert]);
  cleanups.push(() => Promise.resolve(tls.setDefaultCACertificates(known)));
  const proxy = await proxyTo({ 'localhost:443': port, 'other.example:443': port }, cleanups);
  const good = await proxy.fetchFile({ url: 'https://localhost/a.pdf', sha256, signal });
  expect(good.kind).toBe('fetched');
  const bad = await proxy.fetchFile({ url: 'https://other.example/a.pdf', sha256, signal });
  expect(bad).toEqual({ kind: 'failed', reason: 'unreachable' });
});

test.each([
  'http://192.168.1.1/a.pdf',
  'http://localhost/a.pdf',
  'https://files.example:8443/a.pdf',
  'file:///etc/passwd',
  'nonsense',
])('the file %s is refused', async (url) => {
  const proxy = await proxyTo({}, cleanups);
  expect(await proxy.fetchFile({ url, sha256, signal })).toEqual({
    kind: 'failed',
    reason: 'refused',
  });
});

test('each redirect is judged like the first address', async () => {
  const port = await server((request, response) => {
    const location = request.url === '/inward' ? 'http://10.0.0.1/a' : '/a.pdf';
    if (request.url === '/a.pdf') return void response.end(content);
    response.writeHead(302, { location }).end();
  });
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  const fetch = (path: string) =>
    proxy.fetchFile({ url: `http://files.example${path}`, sha256, signal });
  expect((await fetch('/moved')).kind).toBe('fetched');
  expect(await fetch('/inward')).toEqual({ kind: 'failed', reason: 'refused' });
  expect(proxy.refusals()).toEqual(['10.0.0.1']);
});

test('a circle of redirects ends', async () => {
  const port = await server((_request, response) =>
    response.writeHead(302, { location: '/' }).end(),
  );
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  expect(await proxy.fetchFile({ url: 'http://files.example/', sha256, signal })).toEqual({
    kind: 'failed',
    reason: 'too_many_redirects',
  });
});

test('a file that differs from its hash is refused, and so is an error page', async () => {
  const port = await server((request, response) => {
    if (request.url === '/gone') response.statusCode = 404;
    response.end('something else');
  });
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  const fetch = (path: string) =>
    proxy.fetchFile({ url: `http://files.example${path}`, sha256, signal });
  expect(await fetch('/a')).toEqual({ kind: 'failed', reason: 'hash_mismatch' });
  expect(await fetch('/gone')).toEqual({ kind: 'failed', reason: 'bad_status' });
});

test('a file of exactly the limit is fetched, and one byte more is refused', async () => {
  const largest = Buffer.alloc(fileBytesMax, 1);
  const port = await server((request, response) => {
    if (request.url === '/announced') response.setHeader('content-length', fileBytesMax + 1);
    response.write(largest);
    response.end(request.url === '/largest' ? '' : 'x');
  });
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  const fetch = (path: string) =>
    proxy.fetchFile({ url: `http://files.example${path}`, sha256: hashOf(largest), signal });
  expect((await fetch('/largest')).kind).toBe('fetched');
  expect(await fetch('/longer')).toEqual({ kind: 'failed', reason: 'too_large' });
  expect(await fetch('/announced')).toEqual({ kind: 'failed', reason: 'too_large' });
});

test('an aborted fetch ends', async () => {
  const abort = new AbortController();
  const port = await server(() => abort.abort());
  const proxy = await proxyTo({ 'files.example:80': port }, cleanups);
  const url = 'http://files.example/silent';
  expect(await proxy.fetchFile({ url, sha256, signal: abort.signal })).toEqual({
    kind: 'failed',
    reason: 'unreachable',
  });
});
