import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { parseArgs } from 'node:util';
import { chromiumBinary } from '@svc/local';
import { createOutboundHttp } from '@svc/runtime';
import { chromium } from 'playwright-core';
import { startEgressProxy } from '../../../packages/node-agent/src/executors/browser/egress/proxy.ts';
import { launchTestBrowser } from '../fence/test-browser.ts';
import { listenEverywhere } from './listeners.ts';
import { startNeighbour } from './neighbour.ts';
import { probeAll } from './probes.ts';

/**
 * `node test/executor/egress/main.ts OPTIONS`: shows whether a page gets past the egress proxy, and
 * the client of the deliverer past its rule.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', multiple: true, default: [] },
    address: { type: 'string', multiple: true, default: [] },
    interface: { type: 'string' },
    /** The interface of a second host, which gets another network namespace. */
    neighbour: { type: 'string' },
    neighbourAddress: { type: 'string', multiple: true, default: [] },
    observed: { type: 'string', multiple: true, default: [] },
    /**
     * Opens the page in an ordinary browser without the proxy. The page then reaches the listeners.
     * This proves that they record contacts.
     */
    unguarded: { type: 'boolean', default: false },
  },
});
const ports = values.port.map(Number);
/** The wait after the last probe. Contacts that are still in flight arrive within this time. */
const lateMs = values.neighbour === undefined ? 1_500 : 5_000;

const site = http.createServer((request, response) => {
  const to = new URL(request.url ?? '/', 'http://site.example').searchParams.get('to');
  response.setHeader('content-type', 'text/html');
  if (to === null) response.end('<!doctype html><title>site</title><body></body>');
  else response.writeHead(302, { location: to }).end();
});
site.listen(0, '127.0.0.1');
await once(site, 'listening');
const bound = site.address();
const sitePort = typeof bound === 'object' && bound !== null ? bound.port : 0;

const listeners = await listenEverywhere(ports);
const neighbour =
  values.neighbour === undefined
    ? undefined
    : await startNeighbour(values.neighbour, values.neighbourAddress, ports);
/** Two addresses of one name: a public one, and the first address of the trial. */
const [firstAddress = '127.0.0.1'] = values.address;
const twoAddresses = ['93.184.216.34', firstAddress.replaceAll(/[[\]]/gu, '')];
const names = ['localhost', 'inward.example', 'changing.example'];
if (neighbour !== undefined) names.push('two.example');
const hosts = [...values.address, ...names];
const targets = hosts.flatMap((host) => ports.map((port) => `${host}:${port}`));
/**
 * The DNS answers for `changing.example`, one for each look-up: first a public address, then an
 * address of this machine.
 */
const changing = [['93.184.216.34'], ['127.0.0.1']];
const proxy = await startEgressProxy({
  hostMap: new Map([['site.example:80', { address: '127.0.0.1', port: sitePort }]]),
  observed: () => values.observed,
  lookUp: async (name) => {
    if (name === 'two.example') return twoAddresses;
    if (name === 'changing.example') return changing.shift() ?? ['127.0.0.1'];
    return ['127.0.0.1'];
  },
});
/**
 * The index of the sent packets among the numbers that follow an interface's name in
 * `/proc/net/dev`.
 */
const sentPacketsColumn = 9;

/**
 * The number of packets that the interface given by `--interface` has sent. 0 without the option,
 * NaN for an unknown interface.
 */
function sentPackets(): number {
  if (values.interface === undefined) return 0;
  const lines = readFileSync('/proc/self/net/dev', 'utf8').split('\n');
  const line = lines.find((one) => one.trim().startsWith(`${values.interface}:`)) ?? '';
  return Number(line.split(':')[1]?.trim().split(/\s+/)[sentPacketsColumn]);
}

/** Posts to an address as the deliverer does, and returns `<address> <kind of the outcome>`. */
async function postTo(address: string): Promise<string> {
  const client = createOutboundHttp({
    allowPrivateNetworks: values.unguarded,
    monotonicMs: () => performance.now(),
  });
  const request = { headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000 };
  const { kind } = await client.post({ ...request, url: `https://${address}/` });
  client.close();
  return `${address} ${kind}`;
}

const sentBefore = sentPackets();
const guarded = values.unguarded ? undefined : await launchTestBrowser();
const browser =
  guarded?.browser ??
  (await chromium.launch({ executablePath: await chromiumBinary(), args: ['--no-sandbox'] }));
const page = (await guarded?.open(proxy.url)) ?? (await browser.newPage());
await page.goto(values.unguarded ? `http://127.0.0.1:${sitePort}/` : 'http://site.example/');
const failed = new Set<string>();
page.on('requestfailed', (request) => failed.add(request.url()));
await page.evaluate(probeAll(targets));
await page.waitForTimeout(lateMs);
const title = await page.title();
const neighbourContacts = (await neighbour?.contacts()) ?? [];
const posts = await Promise.all(values.address.map(postTo));
neighbour?.close();
await (guarded ?? browser).close();
await proxy.close();
listeners.close();
site.close();
process.stdout.write(
  `${JSON.stringify({
    contacts: [...new Set(listeners.contacts)].toSorted(),
    neighbourContacts: [...new Set(neighbourContacts)].toSorted(),
    posts: posts.toSorted(),
    refusals: proxy.refusals().toSorted(),
    packets: sentPackets() - sentBefore,
    failedCount: failed.size,
    title,
  })}\n`,
);
process.exit(0);
