import { mkdtempSync, rmSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { expect, onTestFinished, test } from 'vitest';
import type { MeteredUsage } from '../../../executor.ts';
import { listenForTest } from '../chromium/chromium.fixture.ts';
import { createBrowserExecutor } from '../index.ts';

const host = 'jobs.example.com';

const form = `<!doctype html><title>apply</title><form method="post" action="/apply"><label>Full name <input name="n" required></label>
  <label>Email <input name="m" type="email" required></label><label>Note <input name="o"></label><button>Apply</button></form>`;

interface Site {
  readonly posts: string[];
  readonly hostMap: ReadonlyMap<string, { address: string; port: number }>;
}

async function startSite(answer: string, page = form): Promise<Site> {
  const posts: string[] = [];
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.method !== 'POST') return void response.end(page);
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      posts.push(body);
      response.end(answer);
    });
  });
  const port = await listenForTest(server);
  return {
    posts,
    hostMap: new Map([[`${host}:80`, { address: '127.0.0.1', port }]]),
  };
}

async function run(
  site: Site,
  changes: {
    applicationUrl?: string;
    maxNodeSeconds?: number;
    journal?: () => Promise<void>;
    binary?: string;
  } = {},
) {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'svc-job-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const logged: string[] = [];
  const usages: MeteredUsage[] = [];
  const executor = createBrowserExecutor({
    binary: changes.binary ?? (await chromiumBinary()),
    isSandboxed: false,
    stateDir,
    hostMap: site.hostMap,
    log: (step, details) => logged.push(`${step} ${JSON.stringify(details)}`),
  });
  const { applicationUrl = `http://${host}/welder`, maxNodeSeconds = 120 } = changes;
  const applicantProfile = { basics: { name: 'Ada Byron', email: 'ada@mail.example' } };
  const jobContext = { title: 'Welder', company: 'Acme' };
  const payload = { applicationUrl, atsType: 'generic', applicantProfile, jobContext };
  const running = executor.run(
    { submissionId: 'sub_1', payloadText: JSON.stringify(payload), maxNodeSeconds },
    {
      signal: new AbortController().signal,
      meter: { record: (usage) => usages.push(usage) },
      submitting: changes.journal ?? (async () => {}),
    },
  );
  const settled = await running.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  return {
    ...settled,
    logged,
    usages,
    left: existsSync(path.join(stateDir, 'b')) ? readdirSync(path.join(stateDir, 'b')) : [],
  };
}

test('an application is sent once, confirmed and metered, and leaves nothing behind', async () => {
  const site = await startSite('<h1>Thank you for applying</h1><p>Your reference is A-4711.</p>');
  const { result, usages, logged, left } = await run(site);
  expect(result).toEqual({
    confirmationId: 'A-4711',
    details: {
      adapter: 'generic',
      fieldsFilled: 2,
      fieldsLeft: 1,
      steps: 1,
      durationMs: expect.any(Number),
    },
  });
  expect(site.posts).toEqual(['n=Ada+Byron&m=ada%40mail.example&o=']);
  const last = usages.at(-1);
  // One navigation, two fields, one click.
  expect(last?.actions).toBe(4);
  expect(last?.cpuSeconds).toBeGreaterThan(0);
  expect(last?.memoryGbSeconds).toBeGreaterThan(0);
  expect(last?.bandwidthMb).toBeGreaterThan(0.0005);
  expect(logged.join('\n')).not.toMatch(/Ada|Byron|mail\.example|Full name|welder/u);
  expect(left).toEqual([]);
});

test('nothing is sent if the journal cannot be written', async () => {
  const site = await startSite('<h1>Thank you for applying</h1>');
  const { error } = await run(site, {
    journal: async () => await Promise.reject(new Error('disk full')),
  });
  expect(error).toMatchObject({ message: 'disk full' });
  expect(site.posts).toEqual([]);
});

test('an address that the network rules refuse is not retriable', async () => {
  const site = await startSite('');
  const { error } = await run(site, { applicationUrl: 'http://10.1.2.3/welder' });
  expect(error).toMatchObject({ code: 'site_unreachable', retriable: false });
});

test('a browser that does not start is logged with the submission', async () => {
  const { error, logged } = await run(await startSite(''), { binary: '/bin/false' });
  expect(error).toBeDefined();
  expect(logged).toContainEqual(
    expect.stringMatching(/^the browser did not start .*"submissionId":"sub_1"/u),
  );
});

test('a job that takes too long ends before its tier does', async () => {
  const site = await startSite('', '<!doctype html><p>Loading</p>');
  const startedMs = performance.now();
  const { error, left } = await run(site, { maxNodeSeconds: 12 });
  expect(error).toMatchObject({
    code: 'node_error',
    message: expect.stringContaining('more time'),
  });
  expect(performance.now() - startedMs).toBeLessThan(12_000);
  expect(left).toEqual([]);
});

test('a page that checks its fields itself is not an unknown outcome', async () => {
  const page = form.replace('<form ', '<form novalidate ').replace(
    '</form>',
    `</form><script>document.querySelector('form').onsubmit = (event) => {
      event.preventDefault();
      const input = document.querySelector('[name=m]');
      input.setAttribute('aria-invalid', 'true');
    };</script>`,
  );
  const site = await startSite('', page);
  const { error } = await run(site);
  expect(error).toMatchObject({
    code: 'invalid_payload',
    message: 'The page refused the values of these fields: “Email”.',
  });
  expect(site.posts).toEqual([]);
});
