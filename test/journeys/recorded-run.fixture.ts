import { waitUntil } from '@svc/testkit';
import { signedByOperator } from '../support/accounts.ts';
import { job } from '../support/job.ts';
import type { WireAnswer, WireRequest } from '../support/wire.ts';
import { declinedHost, type Environment, failedHost } from './two-environments.fixture.ts';

/** A run of requests through everything that a tenant can ask, and what was answered. */

const submissions = '/v1/submissions';
const post = (target: string, body?: object): WireRequest => ({
  method: 'POST',
  target,
  ...(body === undefined ? {} : { body }),
});
const get = (target: string): WireRequest => ({ method: 'GET', target });

const at = (key: string, host: string) => {
  const { payload, ...rest } = job(key);
  return { ...rest, payload: { ...payload, applicationUrl: `https://${host}/apply` } };
};

/** Every answer in order, in words that are the same wherever the service did the same. */
export async function recordRun(environment: Environment): Promise<string[]> {
  const { tenant, pauper, operator, ask, askAs, receiver } = environment;
  const normalise = createNormaliser();
  const record: string[] = [];
  const note = (what: string, answer: WireAnswer): WireAnswer => {
    record.push(`${what}: ${normalise(describe(answer))}`);
    return answer;
  };
  const as = async (wire: WireRequest, who = tenant) =>
    note(`${wire.method} ${normalise(wire.target)}`, await askAs(who, wire));
  const open = async (wire: WireRequest) =>
    note(`${wire.method} ${wire.target} unsigned`, await ask(wire));

  for (const target of ['/ready', '/openapi.json', '/docs', '/docs/errors'])
    await open(get(target));
  for (const target of ['/v1/settings', '/v1/credits/balance', '/v1/rate-card', '/v1/nothing']) {
    await open(get(target));
    await as(get(target));
  }
  await as(get('/v1/settings'), { ...tenant, hmacSecret: tenant.webhookSecret });
  await as({ method: 'PATCH', target: '/v1/settings', body: { lowBalanceThreshold: 5 } });
  await as(post('/v1/quotes', { jobType: 'ats.application', payload: job('q').payload }));
  const created = await as(post(submissions, job('one')));
  await as(post(submissions, job('one')));
  await as(post(submissions, job('one', { tier: 'instant' })));
  const failed = await as(post(submissions, at('two', failedHost)));
  await as(post(submissions, at('three', declinedHost)));
  await as(post(submissions, job('four')), pauper);
  for (const body of [
    job('five', { jobType: 'none' }),
    job('six', { tier: 'none' }),
    job('seven', { payload: {} }),
    job('eight', { more: 1 }),
    {},
  ]) {
    await as(post(submissions, body));
  }
  for (const { body } of [created, failed]) {
    const target = `${submissions}/${String(body['submissionId'])}`;
    await waitUntil(async () => (await askAs(tenant, get(target))).body['finishedAt'] !== null);
    await as(get(target));
    await as(post(`${target}/cancel`));
    await as(get(target), pauper);
  }
  await receiver.waitFor(({ event }) => event.type === 'submission.completed');
  await receiver.waitFor(({ event }) => event.type === 'submission.failed');
  for (const target of [
    submissions,
    `${submissions}?limit=1`,
    `${submissions}?status=failed`,
    `${submissions}?limit=0`,
    '/v1/credits/transactions',
    '/v1/credits/balance',
  ]) {
    await as(get(target));
  }
  await as({ method: 'DELETE', target: submissions });
  await as(post('/v1/webhooks/test'));
  await as(post('/v1/webhooks/test'));
  await as(post('/v1/webhooks/test'), pauper);
  await receiver.waitFor(({ event }) => event.type === 'webhook.test');
  await waitUntil(async () => {
    const pending = await askAs(tenant, get('/v1/webhooks/deliveries?status=pending'));
    return pending.text.includes('"data":[]');
  });
  await as(get('/v1/webhooks/deliveries'));
  await as(post('/v1/credits/purchase', {}));
  const purchase = { tenantId: tenant.tenantId, credits: 10, reference: 'INV-1' };
  for (const body of [purchase, purchase, { ...purchase, credits: 11 }]) {
    const wire = post('/v1/credits/purchase', body);
    note('purchase', await ask(signedByOperator(operator, wire)));
  }
  await as(post('/v1/credits/purchase-intents', { credits: 1, token: 'USDC' }));
  const told = receiver.received.map(({ event, headers }) => ({
    about: { type: event.type, data: event.data },
    headers: Object.keys(headers).toSorted(),
    agent: headers['user-agent'],
  }));
  const inOrder = told.toSorted((one, other) => one.about.type.localeCompare(other.about.type));
  record.push(`told: ${normalise(JSON.stringify(inOrder))}`);
  return record;
}

/** Status, body and every header but those of the connection. */
function describe({ status, headers, text }: WireAnswer): string {
  const { date, connection, 'keep-alive': keepAlive, 'content-length': length, ...shown } = headers;
  const described = { date, connection, keepAlive, length };
  return `${status} ${JSON.stringify(shown)} ${Object.keys(described).length} ${text}`;
}

/** Puts what differs from run to run out of the way: ids, by the order in which they come, and times. */
function createNormaliser(): (text: string) => string {
  const known = new Map<string, string>();
  const named = (id: string, prefix: string): string => {
    const name = known.get(id) ?? `<${prefix} ${known.size}>`;
    known.set(id, name);
    return name;
  };
  return (text) =>
    text
      .replaceAll(/\b(sub|tnt|nod|dlv|evt|op|ofr|pur|txn)_[0-9a-z]{26}\b/g, (id, prefix: string) =>
        named(id, prefix),
      )
      .replaceAll(/"(x-request-id|requestId)":"[^"]+"/g, '"$1":"<request>"')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replaceAll(/"nextCursor":"[^"]+"/g, '"nextCursor":"<cursor>"')
      .replaceAll(/"(durationMs|retryAfterSeconds)":\d+/g, '"$1":"<number>"')
      .replaceAll(/"(retry-after|ratelimit)":"[^"]+"/g, '"$1":"<number>"')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+\//g, '<receiver>')
      .replaceAll(/"environment":"(?:sandbox|production)"/g, '"environment":"<environment>"');
}
