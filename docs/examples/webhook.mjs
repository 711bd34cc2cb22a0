// A whole webhook endpoint with Node alone: WEBHOOK_SECRET=whsec_… node webhook.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const key = Buffer.from(process.env.WEBHOOK_SECRET.slice('whsec_'.length), 'base64');

function isOurs(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${signed.digest('base64')}`);
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function receive(request, response) {
  const body = Buffer.concat(await request.toArray());
  const ours = isOurs(request.headers, body);
  // Here you would look up X-SVC-Delivery, so as to act once on what may come twice.
  if (ours) console.log('verified', body.toString());
  response.writeHead(ours ? 204 : 401).end();
}

createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
}).listen(Number(process.env.PORT ?? 9000), '127.0.0.1');
