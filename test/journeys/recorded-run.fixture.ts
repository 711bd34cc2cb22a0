import { idPrefixes } from '@svc/domain';
import { type TenantCredentials, waitUntil } from '@svc/testkit';
import { signedByOperator } from '../support/accounts.ts';
import { job } from '../support/job.ts';
import type { WireAnswer, WireRequest } from '../support/wire.ts';
import { declinedHost, type Environment, failedHost } from './two-environments.fixture.ts';

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

/**
 * Sends a request and records the answer. `as` signs the request for a tenant, and `open` sends it
 * as it is.
 */
interface Recorder {
  readonly as: (wire: WireRequest, who?: TenantCredentials) => Promise<WireAnswer>;
  readonly open: (wire: WireRequest) => Promise<WireAnswer>;
}

/**
 * Sends a fixed list of requests to an environment. Returns the answers and webhooks as texts that
 * are equal if two environments behave the same.
 */
export async function recordRun(environment: Environment): Promise<string[]> {
  const { tenant, ask, askAs } = environment;
  const normalise = createNormaliser();
  const record: string[] = [];
  const note = (what: string, answer: WireAnswer): WireAnswer => {
    record.push(`${normalise(what)}: ${normalise(describe(answer))}`);
    return answer;
  };
  const recorder: Recorder = {
    as: async (wire, who = tenant) => note(`${wire.method} ${wire.target}`, await askAs(who, wire)),
    open: async (wire) => note(`${wire.method} ${wire.target} unsigned`, await ask(wire)),
  };
  await askWhatIsThere(recorder, environment);
  await submit(recorder, environment);
  await listAll(recorder);
  await askForWebhooks(recorder, environment);
  await purchase(recorder, environment);
  record.push(`webhooks: ${normalise(webhooksOf(environment))}`);
  return record;
}

async function askWhatIsThere({ as, open }: Recorder, { tenant }: Environment): Promise<void> {
  for (const target of [
    '/ready',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/docs/applicant-profile',
  ])
    await open(get(target));
  for (const target of ['/v1/settings', '/v1/credits/balance', '/v1/rate-card', '/v1/nothing']) {
    await open(get(target));
    await as(get(target));
  }
  await as(get('/v1/settings'), { ...tenant, hmacSecret: tenant.webhookSecret });
  await as({ method: 'PATCH', target: '/v1/settings', body: { lowBalanceThreshold: 5 } });
  await as(post('/v1/quotes', { jobType: 'ats.application', payload: job('q').payload }));
}

async function submit({ as }: Recorder, { tenant, pauper, askAs }: Environment): Promise<void> {
  // Waits until the submission in an answer has ended. Otherwise the balance in later answers would
  // depend on timing.
  const ended = async ({ body }: WireAnswer): Promise<void> => {
    const target = `${submissions}/${String(body['submissionId'])}`;
    await waitUntil(async () => (await askAs(tenant, get(target))).body['finishedAt'] !== null);
  };
  const created = await as(post(submissions, job('one')));
  await ended(created);
  await as(post(submissions, job('one')));
  await as(post(submissions, job('one', { tier: 'instant' })));
  const failed = await as(post(submissions, at('two', failedHost)));
  await ended(failed);
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
    await as(get(target));
    await as(post(`${target}/cancel`));
    await as(get(target), pauper);
  }
}

async function listAll({ as }: Recorder): Promise<void> {
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
}

async function askForWebhooks(
  { as }: Recorder,
  { tenant, pauper, askAs, receiver }: Environment,
): Promise<void> {
  await receiver.waitFor(({ event }) => event.type === 'submission.completed');
  await receiver.waitFor(({ event }) => event.type === 'submission.failed');
  await as(post('/v1/webhooks/test'));
  await as(post('/v1/webhooks/test'));
  await as(post('/v1/webhooks/test'), pauper);
  await receiver.waitFor(({ event }) => event.type === 'webhook.test');
  await waitUntil(async () => {
    const pending = await askAs(tenant, get('/v1/webhooks/deliveries?status=pending'));
    return pending.text.includes('"data":[]');
  });
  await as(get('/v1/webhooks/deliveries'));
}

async function purchase({ as, open }: Recorder, { tenant, operator }: Environment): Promise<void> {
  const target = '/v1/credits/purchase';
  const body = { tenantId: tenant.tenantId, credits: 10, reference: 'INV-1' };
  await as(post(target, body));
  for (const one of [body, body, { ...body, credits: 11 }]) {
    await open(signedByOperator(operator, post(target, one)));
  }
  await as(post('/v1/credits/purchase-intents', { credits: 1, token: 'USDC' }));
}

/** The webhooks are sorted, because they arrive in no fixed order. */
function webhooksOf({ receiver }: Environment): string {
  const webhooks = receiver.received.map(({ event, headers }) => ({
    about: { type: event.type, data: event.data },
    headers: Object.keys(headers).toSorted(),
    agent: headers['user-agent'],
  }));
  return JSON.stringify(
    webhooks.toSorted((one, other) => one.about.type.localeCompare(other.about.type)),
  );
}

const ofTheConnection = ['date', 'connection', 'keep-alive', 'content-length'];

function describe({ status, headers, text }: WireAnswer): string {
  const shown = Object.entries(headers).filter(([name]) => !ofTheConnection.includes(name));
  return `${status} ${JSON.stringify(Object.fromEntries(shown))} ${text}`;
}

const wireId = new RegExp(`\\b(${idPrefixes.join('|')})_[0-9a-z]{26}\\b`, 'g');

/**
 * Replaces values that differ from run to run, such as ids and times. Ids get names in the order of
 * their appearance.
 */
function createNormaliser(): (text: string) => string {
  const known = new Map<string, string>();
  const named = (id: string, prefix: string): string => {
    const name = known.get(id) ?? `<${prefix} ${known.size}>`;
    known.set(id, name);
    return name;
  };
  return (text) =>
    text
      .replaceAll(wireId, (id, prefix: string) => named(id, prefix))
      .replaceAll(/"(x-request-id|requestId)":"[^"]+"/g, '"$1":"<request>"')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replaceAll(/"nextCursor":"[^"]+"/g, '"nextCursor":"<cursor>"')
      .replaceAll(/"(durationMs|retryAfterSeconds)":\d+/g, '"$1":"<number>"')
      .replaceAll(/"retry-after":"\d+"/g, '"retry-after":"<number>"')
      .replaceAll(/;r=\d+;t=\d+/g, ';r=<number>;t=<number>')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+\//g, '<receiver>')
      .replaceAll(/"environment":"(?:sandbox|production)"/g, '"environment":"<environment>"');
}
