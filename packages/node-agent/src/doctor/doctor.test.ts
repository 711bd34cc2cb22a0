import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { sha256Hex, verifyRequest } from '@svc/signing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newStateDir } from '../executors/browser/chromium/chromium.fixture.ts';
import type { NodeOptions } from '../options.ts';
import { checkLink } from './check-link.ts';
import { checkBrowser, checkDisk, checkEgress } from './check-machine.ts';

const secret = 'nsk_right';
const id = 'nod_01kajh8z2wf5xav9c3q7m4n6rt';

function optionsWith(given: Partial<NodeOptions>): NodeOptions {
  return {
    link: undefined,
    id,
    secret,
    slots: 1,
    stateDir: newStateDir(),
    drainSeconds: 1,
    executor: 'browser',
    browser: undefined,
    isSandboxed: false,
    isInsecure: false,
    hostMap: new Map(),
    onlyHosts: [],
    debugDir: undefined,
    searchPath: '',
    ...given,
  };
}

async function portOf(server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function startLink(behindSeconds = 0): Promise<string> {
  const server = createServer((request, response) => {
    const now = Date.now() - behindSeconds * 1_000;
    const { kind } = verifyRequest({
      secrets: [secret],
      timestamp: request.headersDistinct['x-svc-timestamp']?.[0],
      signature: request.headersDistinct['x-svc-signature']?.[0],
      nowSeconds: Math.floor(now / 1_000),
      method: 'GET',
      target: request.url ?? '',
      bodySha256: sha256Hex(''),
    });
    const detail =
      kind === 'outside_window' ? `X-SVC-Timestamp is ${behindSeconds} s ahead of the clock.` : '';
    response.writeHead(kind === 'verified' ? 400 : 401, { date: new Date(now).toUTCString() });
    response.end(JSON.stringify({ detail }));
  });
  return `ws://127.0.0.1:${await portOf(server)}`;
}

async function linesOf(given: Partial<NodeOptions>): Promise<string[]> {
  const findings = await checkLink(optionsWith(given), Date.now);
  return findings.map(({ check, passed, text }) => `${check} ${String(passed)}: ${text}`);
}

describe('the link', () => {
  test('to another machine needs TLS, or --insecure', async () => {
    const link = 'ws://name.invalid:1';
    const unchecked = 'Not checked, because the link is not encrypted.';
    expect(await linesOf({ link })).toEqual([
      'link false: The link is not encrypted. Use wss://, or --insecure if nobody else can read it.',
      `secret false: ${unchecked}`,
      `clock false: ${unchecked}`,
    ]);
    const [first] = await linesOf({ link, isInsecure: true });
    expect(first).toContain('The host name in --link has no address.');
  });

  test('passes with the right secret, and no link is opened', async () => {
    const link = await startLink();
    expect(await linesOf({ link })).toEqual([
      `link true: ${link} answers.`,
      'secret true: The service accepts the id and the secret.',
      expect.stringMatching(/^clock true: The clock is [012] s/),
    ]);
  });

  test('answers, but the secret is wrong', async () => {
    const [first, second] = await linesOf({ link: await startLink(), secret: 'nsk_wrong' });
    expect(first).toContain('link true');
    expect(second).toContain('secret false: The id or the secret is wrong');
  });

  test('answers, but the clock is off', async () => {
    const [, second, third] = await linesOf({ link: await startLink(400) });
    expect(second).toContain('secret false: The clock of this machine is 400 s ahead of');
    expect(third).toMatch(
      /^clock false: The clock is (399|400|401) s ahead of the service\. Set it/,
    );
  });

  test('is not there', async () => {
    const [first] = await linesOf({ link: 'ws://127.0.0.1:1' });
    expect(first).toBe(
      'link false: Nothing listens at the address in --link. Check --link. If it is right, ask the operator.',
    );
  });

  test('is missing', async () => {
    expect(await linesOf({})).toHaveLength(3);
    expect((await linesOf({}))[0]).toBe('link false: Give --link, or set SVC_NODE_LINK.');
  });
});

describe('the machine', () => {
  test('has a browser that starts', async () => {
    const findings = await checkBrowser(optionsWith({ browser: await chromiumBinary() }));
    expect(findings).toMatchObject([{ passed: true }, { passed: true }]);
  });

  test.runIf(process.getuid?.() === 0)('has a browser but no sandbox for root', async () => {
    const options = optionsWith({ browser: await chromiumBinary(), isSandboxed: true });
    expect(await checkBrowser(options)).toMatchObject([
      { check: 'browser', passed: true },
      { check: 'sandbox', passed: false },
    ]);
  });

  test('has a disk that can be written, or not', async () => {
    const options = optionsWith({});
    expect(await checkDisk(options)).toMatchObject({ passed: true });
    const file = path.join(options.stateDir, 'file');
    writeFileSync(file, '');
    const inFile = { ...options, stateDir: path.join(file, 'state') };
    expect(await checkDisk(inFile)).toMatchObject({ passed: false });
  });

  test('reaches a public site through the guarded proxy, or not', async () => {
    const port = await portOf(net.createServer((socket) => socket.end()));
    const hostMap = new Map([['example.com:443', { address: '127.0.0.1', port }]]);
    expect(await checkEgress(optionsWith({ hostMap }))).toMatchObject({ passed: true });
    const closed = new Map([['example.com:443', { address: '127.0.0.1', port: 1 }]]);
    expect(await checkEgress(optionsWith({ hostMap: closed }))).toMatchObject({ passed: false });
  });
});
