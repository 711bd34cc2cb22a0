import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { linkRequest, openLinkSocket, selfSigned } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDispatching, type Dispatching } from './dispatcher.fixture.ts';

let service: Dispatching;
let directory: string;
let ca: string;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'svc-link-production-'));
  const { cert, key } = selfSigned();
  ca = cert;
  writeFileSync(path.join(directory, 'cert.pem'), cert);
  writeFileSync(path.join(directory, 'key.pem'), key);
  service = await startDispatching({
    env: {
      SVC_ENVIRONMENT: 'production',
      NODE_LINK_TLS_CERT_FILE: path.join(directory, 'cert.pem'),
      NODE_LINK_TLS_KEY_FILE: path.join(directory, 'key.pem'),
    },
  });
});

afterAll(async () => {
  await service.end();
  rmSync(directory, { recursive: true, force: true });
});

const executor = { jobType: 'ats.application', name: 'browser', version: '1.2.0' };

/** The service's answer to a `hello` with these executors: the type of a frame, or a close code. */
async function answerTo(executors: unknown): Promise<string | number> {
  const link = (service.links[0] ?? '').replace('ws:', 'wss:');
  const socket = await openLinkSocket(linkRequest({ link, ...(await service.newNode()), ca }));
  const closed = once(socket, 'close').then(([code]): number => code);
  const answered = once(socket, 'message').then(([data]): string => JSON.parse(String(data)).type);
  const hello = { type: 'hello', agentVersion: 'x', jobTypes: [], slots: 1, running: [] };
  socket.send(JSON.stringify({ ...hello, ...(executors === undefined ? {} : { executors }) }));
  const answer = await Promise.race([closed, answered]);
  socket.terminate();
  return answer;
}

describe('in production', () => {
  test('a link with a simulated executor is closed', async () => {
    expect(await answerTo([executor, { ...executor, name: 'simulated' }])).toBe(1008);
  });

  test('a link with another executor is accepted, and so is an older node that names none', async () => {
    expect(await answerTo([executor])).toBe('welcome');
    expect(await answerTo(undefined)).toBe('welcome');
  });

  test('malformed executors are a bad frame', async () => {
    expect(await answerTo([{ ...executor, version: '\u0007' }])).toBe('error');
    expect(await answerTo('browser')).toBe('error');
  });
});
