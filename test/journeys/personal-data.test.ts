import { leaseMs } from '@svc/domain';
import { connectScriptedNode, waitUntil } from '@svc/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { startJourney } from '../support/journey.ts';
import { send, sendBytes, signedBy, type WireAnswer } from '../support/wire.ts';
import {
  allLogs,
  allMetrics,
  databaseFiles,
  found,
  newMarker,
  redisFiles,
} from './personal-data.fixture.ts';

/**
 * Tests that offers, logs, metrics, Redis and the database do not have the personal data of an
 * application in plain text.
 */

/** Free texts that may contain personal data. They are sealed wherever they are at rest. */
const personal = {
  profile: newMarker('Profile'),
  profileName: newMarker('ProfileName'),
  title: newMarker('Title'),
  company: newMarker('Company'),
  url: newMarker('Url'),
  message: newMarker('Message'),
  result: newMarker('Result'),
  resultDetail: newMarker('ResultDetail'),
  response: newMarker('Response'),
};
/** The tenant's own data. The database stores it in plain text, and nothing else stores it. */
const own = {
  name: newMarker('Name'),
  webhookPath: newMarker('WebhookPath'),
  key: newMarker('Key'),
};
const control = newMarker('Control');

const bodyOf = (key: string, atsType = 'greenhouse') => ({
  idempotencyKey: `${own.key}-${key}`,
  jobType: 'ats.application',
  payload: {
    applicationUrl: `https://jobs.example.com/apply/${personal.url}?who=${personal.url}`,
    atsType,
    applicantProfile: { name: personal.profile, [personal.profileName]: [personal.profile] },
    jobContext: { title: personal.title, company: personal.company },
  },
});

test('markers in every free text are found with tenant and node, and nowhere else', async () => {
  const journey = await startJourney({
    env: { LOG_LEVEL: 'trace', WEBHOOK_BACKOFF_SECONDS: '1,1' },
  });
  const { stack, receiver } = journey;
  let refusals = 1;
  receiver.answerWith(() => ({ status: refusals-- > 0 ? 500 : 200, body: personal.response }));
  const tenant = await stack.createTenant({
    name: own.name,
    webhookUrl: `${receiver.url}${own.webhookPath}`,
    grantCredits: 5_000,
  });
  const ask = (method: string, target: string, body?: object): Promise<WireAnswer> => {
    const wire = { method, target, ...(body === undefined ? {} : { body }) };
    const signed = signedBy(tenant, wire);
    return send(stack.gatewayUrl, {
      ...signed,
      headers: { ...signed.headers, 'x-request-id': control },
    });
  };
  const create = (key: string, atsType?: string) =>
    ask('POST', '/v1/submissions', bodyOf(key, atsType));
  const { nodeId, nodeSecret: secret } = await stack.createNode('attic');
  const node = await connectScriptedNode({ link: stack.nodeLinkUrl, nodeId, secret, slots: 10 });
  onTestFinished(() => node.close());
  const usage = {};
  const begun = async (key: string): Promise<string> => {
    const [, submissionId] = await Promise.all([create(key), node.runNext()]);
    return submissionId;
  };
  const shown = async (submissionId: string) => ask('GET', `/v1/submissions/${submissionId}`);
  const ended = (submissionId: string) =>
    waitUntil(async () => (await shown(submissionId)).body['finishedAt'] !== null);

  const result = { confirmationId: personal.result, details: { note: personal.resultDetail } };
  const completed = await begun('completed');
  node.send({ type: 'completed', submissionId: completed, usage, result });
  const failed = await begun('failed');
  const failure = { code: 'captcha', message: personal.message } as const;
  node.send({ type: 'failed', submissionId: failed, usage, failure });
  await ended(completed);
  await ended(failed);
  const cancelled = await begun('cancelled');
  await ask('POST', `/v1/submissions/${cancelled}/cancel`);
  await node.next('cancel');
  node.send({ type: 'completed', submissionId: cancelled, usage, result });
  await receiver.waitFor(({ event }) => event.type === 'submission.late_outcome');
  const declining = create('declined', 'sandbox.decline');
  const { offerId } = await node.next('offer');
  node.send({ type: 'decline', offerId, reason: 'policy' });
  expect((await declining).status).toBe(503);
  const lost = await begun('lost');
  await stack.advanceClock(leaseMs + 1_000);
  await ended(lost);
  await create('completed');
  await ask('POST', '/v1/submissions', { ...bodyOf('completed'), tier: 'instant' });
  await ask('POST', '/v1/submissions', { ...bodyOf('bad'), [personal.profile]: personal.title });
  await ask('POST', '/v1/quotes', { jobType: personal.title, payload: bodyOf('q').payload });
  await sendBytes(stack.gatewayUrl, `POST /v1/submissions HTTP/1.1\r\n\r\n{"${personal.profile}`);
  await send(stack.gatewayUrl, { method: 'POST', target: '/v1/submissions', body: bodyOf('none') });
  node.sendText(
    JSON.stringify({ type: 'completed', result: personal.result, x: personal.message }),
  );
  await node.next('error');
  await receiver.waitFor(({ attempt }) => attempt === 2);
  await waitUntil(async () => {
    const list = await ask('GET', '/v1/webhooks/deliveries?status=pending');
    return list.text.includes('"data":[]');
  });

  // Each marker of `personal` must have reached the tenant or the node. Otherwise the searches
  // below would prove nothing.
  const seen = [
    await shown(completed),
    await shown(failed),
    await ask('GET', '/v1/webhooks/deliveries'),
  ];
  expect(found(seen.map(({ text }) => text).join(), personal)).toEqual([
    'message',
    'result',
    'resultDetail',
    'response',
  ]);
  expect(found(node.texts.join(), personal)).toEqual([
    'profile',
    'profileName',
    'title',
    'company',
    'url',
  ]);
  const offers = node.frames.filter(({ type }) => type === 'offer');
  expect(found(JSON.stringify(offers), { ...personal, ...own })).toEqual([]);

  const logs = allLogs(stack);
  expect(found(logs, { control })).toEqual(['control']);
  expect(found(logs, { ...personal, ...own })).toEqual([]);
  const events = logs.split('\n').map((line): unknown => JSON.parse(line)?.event);
  expect(events.filter((event) => typeof event !== 'string')).toEqual([]);
  expect(found(await allMetrics(stack), { ...personal, ...own, control })).toEqual([]);
  const redis = await redisFiles(stack);
  expect(found(redis, { prefix: '{svc}' })).toEqual(['prefix']);
  expect(found(redis, { ...personal, ...own })).toEqual([]);
  const database = await databaseFiles(stack);
  expect(found(database, own)).toEqual(Object.keys(own));
  expect(found(database, personal)).toEqual([]);
});

test('the search finds a text in each encoding', () => {
  const marker = newMarker('Any');
  for (const before of ['', 'a', 'ab', 'abc']) {
    const plain = Buffer.from(`${before}${marker} and more`);
    for (const form of ['utf8', 'hex', 'base64'] as const) {
      expect(found(plain.toString(form), { marker })).toEqual(['marker']);
    }
    expect(found(plain.toString('base64').slice(0, 12), { marker })).toEqual([]);
  }
});
