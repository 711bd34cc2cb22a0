import type { SignupAnswer } from '@svc/contracts';

/**
 * Examples that a new tenant can paste. The first submission needs only a shell with curl and
 * openssl. The webhook endpoint needs only Node.
 */

const target = '/v1/submissions';

const submission = JSON.stringify({
  idempotencyKey: 'my-first-submission',
  jobType: 'ats.application',
  payload: {
    applicationUrl: 'https://jobs.example.com/apply/8841',
    atsType: 'sandbox.succeed',
    applicantProfile: { basics: { name: 'Ana Perez', email: 'ana@example.com' } },
    jobContext: { title: 'Welder', company: 'Example Works' },
  },
});

/**
 * Returns shell commands that sign and send a request (CONTRACT 1). The base URL, ids, secrets and
 * body contain no single quotes, so they need no escaping.
 */
export function firstSubmission(baseUrl: string, { tenantId, hmacSecret }: SignupAnswer): string {
  return `BASE='${baseUrl}'
TENANT='${tenantId}'
SECRET='${hmacSecret}'
BODY='${submission}'
NOW=$(date +%s)
HASH=$(printf %s "$BODY" | openssl dgst -sha256 -r | cut -d' ' -f1)
SIGN=$(printf 'SVC1-HMAC-SHA256\\n%s\\nPOST\\n${target}\\n%s' "$NOW" "$HASH" |
  openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1)
curl -sS -i "$BASE${target}" -H "X-SVC-Tenant: $TENANT" \\
  -H "X-SVC-Timestamp: $NOW" -H "X-SVC-Signature: v1=$SIGN" \\
  -H 'content-type: application/json' --data-binary "$BODY"
`;
}

/**
 * Returns the source of a complete webhook endpoint. The endpoint verifies each request that it
 * gets (CONTRACT 6) and needs only Node.
 */
export function webhookEndpoint({ webhookSecret }: SignupAnswer): string {
  return `// webhook.mjs: node webhook.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const key = Buffer.from('${webhookSecret}'.slice('whsec_'.length), 'base64');

function isOurs(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const signed = createHmac('sha256', key).update(id + '.' + timestamp + '.').update(body);
  const expected = Buffer.from('v1,' + signed.digest('base64'));
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function receive(request, response) {
  const body = Buffer.concat(await request.toArray());
  const ours = isOurs(request.headers, body);
  if (ours) console.log('verified', JSON.parse(body.toString()));
  response.writeHead(ours ? 204 : 401).end();
}

createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
}).listen(Number(process.env.PORT ?? 9000));
`;
}
