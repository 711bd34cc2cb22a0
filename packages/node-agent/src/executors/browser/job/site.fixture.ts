import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { onTestFinished } from 'vitest';
import type { MeteredUsage } from '../../../executor.ts';
import { listenForTest } from '../chromium/chromium.fixture.ts';
import { createBrowserExecutor } from '../index.ts';

export const host = 'jobs.example.com';

export const form = `<!doctype html><title>apply</title><form method="post" action="/apply"><label>Full name <input name="n" required></label>
  <label>Email <input name="m" type="email" required></label><label>Note <input name="o"></label><button>Apply</button></form>`;

export interface Site {
  /** The bodies of the requests with the method POST. */
  readonly posts: string[];
  readonly hostMap: ReadonlyMap<string, { address: string; port: number }>;
}

/**
 * Answers each request other than the GET of `/welder`, the page with the form. `posts` is the
 * number of POST requests, with this one.
 */
export type Reply = (request: IncomingMessage, response: ServerResponse, posts: number) => void;

/** Starts an employer's site. Without `reply`, it answers each POST with `answer`. */
export async function startSite(answer: string, page = form, reply?: Reply): Promise<Site> {
  const posts: string[] = [];
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.method !== 'POST') {
      const isPosting = request.url === '/welder' || reply === undefined;
      return isPosting ? void response.end(page) : reply(request, response, posts.length);
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      posts.push(body);
      if (reply === undefined) response.end(answer);
      else reply(request, response, posts.length);
    });
  });
  const port = await listenForTest(server);
  return {
    posts,
    hostMap: new Map([[`${host}:80`, { address: '127.0.0.1', port }]]),
  };
}

/** Runs a job with the browser executor. */
export async function run(
  site: Site,
  changes: {
    applicationUrl?: string;
    maxNodeSeconds?: number;
    journal?: () => Promise<void>;
    binary?: string;
    profile?: object;
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
  const basics = { name: 'Ada Byron', email: 'ada@mail.example' };
  const applicantProfile = { basics, ...changes.profile };
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
