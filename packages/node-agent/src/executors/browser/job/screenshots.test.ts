import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { chromiumBinary } from '@svc/local';
import { expect, onTestFinished, test } from 'vitest';
import { newStateDir } from '../chromium/chromium.fixture.ts';
import { runJob } from './run-job.ts';

const host = 'jobs.employer.example';
const pages: Readonly<Record<string, string>> = {
  GET: '<!doctype html><h1>Apply</h1><form method="post"><label>First name <input name="first"></label><label>Last name <input name="last"></label><label>Email <input name="email"></label><button>Submit application</button></form>',
  POST: '<!doctype html><h1>Thank you for applying</h1>',
};

async function run(debugDir: string) {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'text/html').end(pages[request.method ?? '']);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const payload = {
    applicationUrl: `http://${host}/jobs/1`,
    atsType: 'generic',
    applicantProfile: { basics: { name: 'Ada Lovelace', email: 'ada@example.com' } },
    jobContext: { title: 'Analyst', company: 'Example' },
  };
  return runJob(
    { submissionId: 'sub_test', payloadText: JSON.stringify(payload), maxNodeSeconds: 300 },
    {
      signal: new AbortController().signal,
      meter: { record: () => {} },
      submitting: async () => {},
    },
    {
      binary: await chromiumBinary(),
      isSandboxed: false,
      stateDir: newStateDir(),
      hostMap: new Map([[`${host}:80`, { address: '127.0.0.1', port: address.port }]]),
      log: () => {},
      debugDir,
    },
  );
}

test('with a debug directory, the filled form and the last page are kept as screenshots', async () => {
  const debugDir = newStateDir();
  await run(debugDir);
  const names = readdirSync(debugDir).toSorted();
  expect(names).toEqual(['sub_test-end.png', 'sub_test-step-1.png']);
  for (const name of names) {
    const { mode, size } = statSync(path.join(debugDir, name));
    expect(mode & 0o077).toBe(0);
    expect(size).toBeGreaterThan(1_000);
  }
});

test('a screenshot that cannot be written does not end the job', async () => {
  const debugDir = path.join(newStateDir(), 'missing');
  expect(await run(debugDir)).toMatchObject({
    details: { adapter: 'generic', fieldsFilled: 3 },
  });
});
