import { once } from 'node:events';
import { linkRequest, openLinkSocket } from '@svc/testkit';
import { describe, expect, test } from 'vitest';
import { useCertificate, useDispatching } from './dispatcher.fixture.ts';

const { ca, env } = useCertificate();
const service = await useDispatching({ env: { ...env, SVC_ENVIRONMENT: 'production' } });

const executor = { jobType: 'ats.application', name: 'browser', version: '1.2.0' };

async function answerTo(members: object): Promise<string | number> {
  const link = (service.links[0] ?? '').replace('ws:', 'wss:');
  const socket = await openLinkSocket(linkRequest({ link, ...(await service.newNode()), ca }));
  const closed = once(socket, 'close').then(([code]): number => code);
  const answered = once(socket, 'message').then(([data]): string => JSON.parse(String(data)).type);
  const hello = { type: 'hello', agentVersion: 'x', jobTypes: [], slots: 1, running: [] };
  socket.send(JSON.stringify({ ...hello, ...members }));
  const answer = await Promise.race([closed, answered]);
  socket.terminate();
  return answer;
}

describe('in production', () => {
  test('a link with a simulated executor is closed', async () => {
    expect(await answerTo({ executors: [executor, { ...executor, name: 'simulated' }] })).toBe(
      1008,
    );
  });

  test('a link with options that only a sandbox allows is closed', async () => {
    expect(await answerTo({ executors: [executor], sandboxOnly: true })).toBe(1008);
    expect(await answerTo({ executors: [executor], sandboxOnly: false })).toBe('welcome');
  });

  test('a link with another executor is accepted, and so is an older node that names none', async () => {
    expect(await answerTo({ executors: [executor] })).toBe('welcome');
    expect(await answerTo({})).toBe('welcome');
  });

  test('malformed executors are a bad frame', async () => {
    expect(await answerTo({ executors: [{ ...executor, version: '\u0007' }] })).toBe('error');
    expect(await answerTo({ executors: 'browser' })).toBe('error');
  });
});
