import { createHash, createHmac } from 'node:crypto';

/** The value of `X-SVC-Signature`. `target` is the path and query exactly as sent. */
export function signRequest(request: {
  readonly secret: string;
  readonly timestampSeconds: number;
  readonly method: string;
  readonly target: string;
  readonly body: string;
}): string {
  const bodySha256 = createHash('sha256').update(request.body).digest('hex');
  const { timestampSeconds, method, target } = request;
  const lines = ['SVC1-HMAC-SHA256', timestampSeconds, method, target, bodySha256];
  return `v1=${createHmac('sha256', request.secret).update(lines.join('\n')).digest('hex')}`;
}
