import { expect, test } from 'vitest';
import { openTestBrowser, startFormProxy } from './chromium.fixture.ts';
import { filterProtocol, ProtocolFilter } from './protocol-filter.ts';

function filter() {
  const passed: string[] = [];
  let excesses = 0;
  const filtered = new ProtocolFilter(
    (message) => passed.push(message.toString()),
    () => (excesses += 1),
  );
  return { filtered, passed, excesses: () => excesses };
}

const event = (method: string, text = '') => `{"method":"${method}","params":{"text":"${text}"}}\0`;
const answer = (text: string) => `{"id":1,"result":{"text":"${text}"}}\0`;
const long = 'x'.repeat(2 * 1024 * 1024);

test.each([1, 7, 100, 65_536])('messages in parts of %i bytes are passed or dropped', (size) => {
  const { filtered, passed, excesses } = filter();
  const kept = [event('Page.loadEventFired'), answer('a'), '{}\0', event('Fetch.requestPaused')];
  const dropped = [event('Runtime.consoleAPICalled', 'c'), event('Log.entryAdded')];
  const bytes = Buffer.from([...dropped, ...kept, ...dropped, ...kept].join(''));
  for (let at = 0; at < bytes.length; at += size) filtered.read(bytes.subarray(at, at + size));
  expect(passed).toEqual([...kept, ...kept]);
  expect(filtered.keptBytes()).toBe(2 * (kept[0]!.length + kept[3]!.length));
  expect(excesses()).toBe(0);
});

test('an event over 256 KiB is dropped, except one with the body of a request', () => {
  const { filtered, passed } = filter();
  const dropped = event('Network.responseReceived', long);
  const kept = [event('Network.requestWillBeSent', long), event('Fetch.requestPaused', long)];
  for (const text of [dropped, ...kept]) filtered.read(Buffer.from(text));
  expect(passed.map((text) => text.slice(0, 32))).toEqual(kept.map((text) => text.slice(0, 32)));
});

/** Sends a body of 600 KB by a script, and then by a form. */
const upload = `
  const text = 'x'.repeat(6e5);
  fetch('/script', { method: 'POST', body: text }).then(() => {
    const form = Object.assign(document.querySelector('form'), { method: 'post', action: '/form' });
    form.elements[0].value = text;
    form.submit();
  });`;

test('the agent sees a request with a large body, and keeps no body of a script', async () => {
  const proxy = await startFormProxy();
  const { page } = await openTestBrowser({ proxyUrl: proxy.url });
  const sizes: [string, number | undefined][] = [];
  page.on('request', (request) => {
    const size = request.postDataBuffer()?.length;
    if (request.method() === 'POST') sizes.push([new URL(request.url()).pathname, size]);
  });
  await page.goto('http://site.example/');
  await page.evaluate(upload);
  await page.waitForURL('**/form');
  expect(sizes).toEqual([
    ['/script', undefined],
    ['/form', 600_002],
  ]);
});

function nest(text: string): string {
  const params = { sessionId: 'A1', message: text.replace('\0', '') };
  return `${JSON.stringify({ method: 'Target.receivedMessageFromTarget', params })}\0`;
}

test('an event of a frame or worker has the limit of its method', () => {
  const { filtered, passed } = filter();
  const dropped = [
    nest(event('Network.webSocketFrameReceived', 'a')),
    nest(nest(event('Network.webSocketFrameReceived', 'a'))),
    nest(event('Network.responseReceived', long)),
  ];
  const kept = [
    nest(event('Fetch.requestPaused', long)),
    nest(nest(event('Network.loadingFinished'))),
    nest(answer('a')),
  ];
  for (const text of [...dropped, ...kept]) filtered.read(Buffer.from(text));
  expect(passed.map((text) => text.length)).toEqual(kept.map((text) => text.length));
});

test('another version of Playwright is refused', async () => {
  const { browser } = await openTestBrowser({ proxyUrl: (await startFormProxy()).url });
  const refused = 'the messages of the browser cannot be filtered';
  const changed = (own: object): typeof browser =>
    Object.create(browser, { _connection: { value: own } });
  const { _connection: client } = Object(browser);
  const { _connection: connection, options } = client.toImpl(browser);
  for (const impl of [
    undefined,
    { _connection: { _transport: {} }, options },
    { _connection: connection, options: { browserProcess: {} } },
  ])
    expect(() => filterProtocol(changed({ toImpl: () => impl }), () => {})).toThrow(refused);
  expect(() => filterProtocol(changed({}), () => {})).toThrow(refused);
});

test('one answer or many dropped events can be too much', () => {
  const first = filter();
  const part = Buffer.alloc(64 * 1024 * 1024, 'x');
  first.filtered.read(Buffer.from('{"id":1,"result":"'));
  for (let count = 0; count < 3; count += 1) first.filtered.read(part);
  expect([first.excesses() > 0, first.filtered.keptBytes()]).toEqual([true, expect.any(Number)]);
  const second = filter();
  second.filtered.read(Buffer.from('{"method":"Runtime.consoleAPICalled","params":"'));
  for (let count = 0; count < 3; count += 1) second.filtered.read(part);
  expect([second.excesses() > 0, second.passed]).toEqual([true, []]);
});

test('a browser that sends too many console messages is ended', async () => {
  const { browser, whenGone } = await openTestBrowser({ proxyUrl: (await startFormProxy()).url });
  const { _connection: client } = Object(browser);
  const { _connection: connection } = client.toImpl(browser);
  const message = Buffer.from(event('Runtime.consoleAPICalled', long));
  for (let count = 0; count < 65; count += 1) connection['_transport']['_dispatch'](message);
  expect(await whenGone).toBe('memory');
});
