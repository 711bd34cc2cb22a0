import process from 'node:process';
// Runs calls of the packed TypeScript client. Reads one JSON object a line, and answers each with
// one line.
import { createInterface } from 'node:readline';
import * as svc from '@svc/client';

function errorOf(error) {
  if (!(error instanceof svc.SvcError)) return { class: `${error}`, stack: error?.stack };
  const { name, status, code, requestId, problem, message } = error;
  return { class: name, status, code, requestId, problem, message };
}

/** A client whose pauses take no time but move its clock. */
function clientOf({ baseUrl, tenantId, secret, client = {} }, clock, pausesMs) {
  return svc.createClient({
    baseUrl,
    tenantId,
    secret,
    now: () => Date.now() + clock.aheadMs,
    sleep: async (milliseconds) => {
      pausesMs.push(milliseconds);
      clock.aheadMs += milliseconds;
    },
    ...client,
  });
}

async function call(message) {
  const pausesMs = [];
  const { method, args, options, take } = message.call;
  const { clockShiftSeconds = 0, laterClockShiftSeconds } = message;
  const clock = { aheadMs: clockShiftSeconds * 1000 };
  const client = clientOf(message, clock, pausesMs);
  try {
    if (laterClockShiftSeconds !== undefined) {
      await client[method](...args, options);
      clock.aheadMs = laterClockShiftSeconds * 1000;
    }
    if (take === 'all') {
      const items = [];
      for await (const item of client[method](...args, options)) items.push(item);
      return { ok: items, pausesMs };
    }
    const called = client[method](...args, options);
    const ok = await (take === 'page' ? called.page() : called);
    return { ok, requestId: svc.requestIdOf(ok), pausesMs };
  } catch (error) {
    return { error: errorOf(error), pausesMs };
  }
}

async function verify({ webhook: { nowMs, ...webhook } }) {
  try {
    const { deliveryId, event } = await svc.verifyWebhook({ ...webhook, now: () => nowMs });
    return { ok: { deliveryId, type: event.type } };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

/**
 * Submits one submission for each key, `atOnce` at a time. Multiplies each pause of the client by
 * `pauseFactor`. Returns the submission's id for each key, the errors, and the number of pauses.
 */
async function submitAll({ baseUrl, tenantId, secret, run }) {
  const { keys, submission, atOnce, maxRetries, pauseFactor } = run;
  let pauses = 0;
  const sleep = (milliseconds) => {
    pauses += 1;
    return new Promise((resolve) => setTimeout(resolve, milliseconds * pauseFactor));
  };
  const client = svc.createClient({ baseUrl, tenantId, secret, maxRetries, sleep });
  const left = [...keys];
  const ids = {};
  const errors = [];
  const work = async () => {
    for (let key = left.shift(); key !== undefined; key = left.shift()) {
      try {
        const created = await client.submit({ ...submission, idempotencyKey: key });
        ids[key] = created.submissionId;
      } catch (error) {
        errors.push(errorOf(error));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { ok: { ids, errors, pauses } };
}

const handlers = { call, verify, submitAll };
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const message = JSON.parse(line);
  const answer = await handlers[message.do](message);
  process.stdout.write(`${JSON.stringify({ id: message.id, ...answer })}\n`);
}
