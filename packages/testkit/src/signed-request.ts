import { type IncomingMessage, request as httpRequest } from 'node:http';
import { signRequest } from '@svc/signing';

export interface SignedRequest {
  readonly baseUrl: string;
  readonly method: string;
  /** Path and query exactly as they are sent. */
  readonly target: string;
  /** The id in the identity header. Without it the request has no such header. */
  readonly tenantId?: string;
  /** The name of the identity header, such as `X-SVC-Operator`. The default is `X-SVC-Tenant`. */
  readonly identityHeader?: string;
  readonly secret?: string;
  /** An object is sent as JSON; text and bytes are sent unchanged. */
  readonly body?: object | string | Uint8Array;
  /**
   * Headers to add, or to send instead of the computed ones. The value undefined removes a computed
   * header.
   */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Unix seconds to sign with; the default is the current time. */
  readonly timestamp?: number;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  json(): unknown;
}

/**
 * Sends one request over a new connection, exactly as given. So a test can send a request that a
 * correct client never sends. Signs the request as in CONTRACT 1 if a secret is given.
 */
export async function sendSigned(signed: SignedRequest): Promise<RawResponse> {
  const body = bodyBytes(signed.body);
  const url = new URL(signed.baseUrl);
  const request = httpRequest({
    host: url.hostname,
    port: url.port,
    method: signed.method,
    path: signed.target,
    headers: wireHeaders(signed, body),
    agent: false,
  });
  request.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    ),
    text,
    json: () => JSON.parse(text),
  };
}

function bodyBytes(body: SignedRequest['body']): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function wireHeaders(signed: SignedRequest, body: Uint8Array): Record<string, string> {
  const { method, target, tenantId, secret, identityHeader = 'X-SVC-Tenant' } = signed;
  const timestamp = signed.timestamp ?? Math.floor(Date.now() / 1_000);
  const headers: Record<string, string | undefined> = {
    connection: 'close',
    'content-length': `${body.byteLength}`,
    'content-type': signed.body === undefined ? undefined : 'application/json',
    [identityHeader]: tenantId,
    'X-SVC-Timestamp': secret === undefined ? undefined : `${timestamp}`,
    'X-SVC-Signature':
      secret === undefined ? undefined : signRequest({ secret, timestamp, method, target, body }),
    ...signed.headers,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
