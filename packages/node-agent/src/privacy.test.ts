import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { chromiumBinary, nodeAgentEntry } from '@svc/local';
import { bareEnvironment, entryUnderTest, waitUntil } from '@svc/testkit';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { filesWith, newStateDir } from './executors/browser/chromium/chromium.fixture.ts';
import { processesWithCommand } from './executors/browser/chromium/process-table.ts';
import {
  nodeId,
  secret,
  startScriptedService,
  type ScriptedService,
} from './scripted-service.fixture.ts';

/**
 * Without `--debug-dir`, no data of an applicant may stay on the machine after a run. This applies
 * to every way in which a run can end.
 */

const submissionId = 'sub_01kajh8z2wf5xav9c3q7m4n6rt';
const offerId = 'ofr_01kajh8z2wf5xav9c3q7m4n6rt';
const canary = 'canary4b8e1d';
const payloadText = JSON.stringify({
  applicationUrl: 'http://jobs.example.com/apply',
  atsType: 'generic',
  applicantProfile: {
    basics: { name: `Ada ${canary}`, email: `${canary}@example.com` },
    files: {
      resume: {
        name: `${canary}.txt`,
        contentType: 'text/plain',
        base64: Buffer.from(`resume of ${canary}`).toString('base64'),
      },
    },
  },
  jobContext: { title: 'Engineer', company: 'Example' },
});

const form = `<!doctype html><title>Apply</title><h1>Apply</h1>
<form method="post" action="/apply" enctype="multipart/form-data">
<label>Full name <input name="name" autocomplete="name" required></label>
<label>Email <input name="email" type="email" autocomplete="email" required></label>
<label>Resume <input name="resume" type="file"></label>
<button type="submit">Submit application</button></form>`;
const thanks = '<!doctype html><title>Done</title><h1>Thank you for applying</h1>';
const refusal = '<!doctype html><title>No</title><p>No.</p>';

let service: ScriptedService;
let root: string;

beforeEach(async () => {
  service = await startScriptedService();
  root = newStateDir();
  for (const name of ['home', 'tmp', 'logs']) mkdirSync(path.join(root, name));
});

async function startEmployer(
  answer: (response: ServerResponse) => void,
  { holdsForm = false } = {},
) {
  const received: string[] = [];
  let forms = 0;
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      forms += 1;
      if (holdsForm) return;
      response.setHeader('content-type', 'text/html').end(form);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(Buffer.concat(chunks).toString('latin1'));
      answer(response.setHeader('content-type', 'text/html'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { port, received, forms: () => forms };
}

/** Starts an agent whose HOME and TMPDIR are in `root`. */
async function svcNode(
  port: number | undefined,
  more: readonly string[] = [],
): Promise<ChildProcess> {
  const entry = entryUnderTest(nodeAgentEntry);
  const args = ['--executor=browser', `--browser=${await chromiumBinary()}`];
  const map = `--map-host=jobs.example.com:80=127.0.0.1:${port}`;
  const child = spawn(process.execPath, [entry, ...args, '--no-browser-sandbox', map, ...more], {
    env: {
      ...bareEnvironment(),
      HOME: path.join(root, 'home'),
      TMPDIR: path.join(root, 'tmp'),
      SVC_NODE_LINK: service.link,
      SVC_NODE_ID: nodeId,
      SVC_NODE_SECRET: secret,
      SVC_NODE_STATE_DIR: path.join(root, 'state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => logged.push(chunk.toString()));
  }
  onTestFinished(() => kill(child));
  return child;
}

let logged: string[];
beforeEach(() => {
  logged = [];
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function begin(): Promise<void> {
  await service.greet();
  service.offer(submissionId, offerId, undefined);
  await service.next('accept');
  service.assign(submissionId, offerId, payloadText);
  await service.next('start');
  service.send({ type: 'begin', submissionId });
}

function expectNothingLeft(): void {
  expect(filesWith(canary, root)).toEqual([]);
  expect(logged.join('')).not.toContain(canary);
  expect(processesWithCommand(`--user-data-dir=${root}`)).toEqual([]);
}

test('after a success nothing of the applicant is left, in no file and no log', async () => {
  const employer = await startEmployer((response) => response.end(thanks));
  await svcNode(employer.port);
  await begin();
  const { result } = await service.next('completed');
  expect(result).toMatchObject({ details: { adapter: 'generic' } });
  expect(employer.received).toHaveLength(1);
  expect(employer.received[0]).toContain(`resume of ${canary}`);
  expectNothingLeft();
  expect(readdirSync(path.join(root, 'state', 'b'))).toEqual([]);
});

test('after a failure nothing of the applicant is left', async () => {
  const employer = await startEmployer((response) => response.writeHead(500).end(refusal));
  await svcNode(employer.port);
  await begin();
  const { failure } = await service.next('failed');
  expect(failure).not.toHaveProperty('submitted');
  expectNothingLeft();
});

test('after a kill while the employer has the application, nothing is left, and it is unknown', async () => {
  const employer = await startEmployer(() => {});
  const child = await svcNode(employer.port);
  await begin();
  await waitUntil(() => employer.received.length === 1, { timeoutMs: 60_000 });
  await kill(child);
  await waitUntil(() => processesWithCommand(`--user-data-dir=${root}`).length === 0);
  expectNothingLeft();
  await svcNode(employer.port);
  await service.greet();
  const { failure } = await service.next('failed');
  expect(failure).toMatchObject({ code: 'node_error' });
  expect(failure).not.toHaveProperty('submitted');
  expectNothingLeft();
  expect(readdirSync(path.join(root, 'state', 'b'))).toEqual([]);
  expect(employer.received).toHaveLength(1);
});

test('after a kill before the form is filled in, nothing is left, and nothing was sent', async () => {
  const employer = await startEmployer(() => {}, { holdsForm: true });
  const child = await svcNode(employer.port);
  await begin();
  await waitUntil(() => employer.forms() > 0, { timeoutMs: 60_000 });
  await kill(child);
  await waitUntil(() => processesWithCommand(`--user-data-dir=${root}`).length === 0);
  expectNothingLeft();
  await svcNode(employer.port);
  await service.greet();
  expect((await service.next('failed')).failure).toMatchObject({
    code: 'node_error',
    submitted: false,
  });
  expectNothingLeft();
  expect(employer.received).toHaveLength(0);
});

test('with --debug-dir screenshots are kept, private to the user', async () => {
  const employer = await startEmployer((response) => response.end(thanks));
  const directory = path.join(root, 'debug');
  await svcNode(employer.port, ['--debug-dir', directory]);
  await begin();
  await service.next('completed');
  expect(readdirSync(directory)).toContain(`${submissionId}-end.png`);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});
