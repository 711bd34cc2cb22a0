import { createHash, createHmac } from 'node:crypto';
import process from 'node:process';

const { SVC_URL: url = '', SVC_TENANT: tenant = '', SVC_SECRET: secret = '' } = process.env;

export const baseUrl = url;

/** The submission of every generated client. */
export const submission = {
  jobType: 'ats.application',
  payload: {
    applicationUrl: 'https://jobs.example.com/apply/8841',
    atsType: 'greenhouse',
    applicantProfile: { basics: { name: 'Ana Pérez', email: 'ana@example.com' } },
    jobContext: { title: 'Welder', company: 'Example Works' },
  },
};

/**
 * An interceptor: adds the three headers of CONTRACT 1 to a finished request.
 * @param {Request} request
 * @returns {Promise<Request>}
 */
export async function sign(request) {
  const { pathname, search } = new URL(request.url);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const body = new Uint8Array(await request.clone().arrayBuffer());
  const digest = createHash('sha256').update(body).digest('hex');
  const target = `${pathname}${search}`;
  const text = ['SVC1-HMAC-SHA256', timestamp, request.method, target, digest].join('\n');
  request.headers.set('X-SVC-Tenant', tenant);
  request.headers.set('X-SVC-Timestamp', timestamp);
  request.headers.set(
    'X-SVC-Signature',
    `v1=${createHmac('sha256', secret).update(text).digest('hex')}`,
  );
  return request;
}
