import { randomUUID } from 'node:crypto';
import { signRequest } from '@svc/signing';
import type { LoadTenant } from './messages.ts';

const target = '/v1/submissions';
const method = 'POST';

export function submissionRequest({ tenantId, hmacSecret: secret }: LoadTenant, host: string) {
  const body = JSON.stringify({
    idempotencyKey: randomUUID(),
    jobType: 'ats.application',
    payload: {
      applicationUrl: 'https://jobs.example.com/apply/8841',
      atsType: 'greenhouse',
      applicantProfile: { name: 'Ana Pérez', email: 'ana@example.com', phone: '+34 600 000 000' },
      jobContext: { title: 'Welder', company: 'Example Works' },
    },
  });
  const timestamp = Math.floor(Date.now() / 1_000);
  return [
    `${method} ${target} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-svc-tenant: ${tenantId}`,
    `x-svc-timestamp: ${timestamp}`,
    `x-svc-signature: ${signRequest({ secret, timestamp, method, target, body })}`,
    '',
    body,
  ].join('\r\n');
}

/** The id of the submission that an answer or a webhook names. Undefined if `body` names none. */
export function submissionIdIn(body: string): string | undefined {
  return /"submissionId" ?: ?"([^"]+)"/.exec(body)?.[1];
}
