import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { signRequest } from '@svc/signing';
import type { TenantCredentials } from '@svc/testkit';

/** Sends requests without the client library, as the contract describes them. */

export interface WireRequest {
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  readonly body?: string | Uint8Array | object;
  /**
   * Headers for the request. Each replaces the header of the same name that `send` or the signature
   * adds. The value undefined removes that header.
   */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as a JSON object. Reading it throws if the body is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * An HTTP `Agent` that opens at most `count` connections to each server and keeps them open between
 * requests. `destroy` closes the connections.
 */
export function keptConnections(count: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: count, scheduling: 'fifo' });
}

export async function send(
  baseUrl: string,
  wire: WireRequest,
  agent?: Agent,
  ca?: string,
): Promise<WireAnswer> {
  const url = new URL(baseUrl);
  const bytes = bytesOf(wire.body);
  const headers = {
    'content-length': String(bytes.byteLength),
    ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...wire.headers,
  };
  const request = (ca === undefined ? httpRequest : httpsRequest)({
    host: url.hostname,
    port: url.port,
    method: wire.method,
    path: wire.target,
    agent: agent ?? false,
    ...(ca === undefined ? {} : { ca }),
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
  });
  request.end(bytes);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return answerOf(response.statusCode ?? 0, Object.fromEntries(named), Buffer.concat(chunks));
}

export function bytesOf(body: WireRequest['body']): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function answerOf(status: number, headers: Record<string, string>, bytes: Buffer): WireAnswer {
  const text = bytes.toString('utf8');
  return {
    status,
    headers,
    text,
    get body() {
      const parsed: unknown = JSON.parse(text);
      return Object.fromEntries(Object.entries(Object(parsed)));
    },
  };
}

/** The three headers of a signed request (CONTRACT 1). */
export function signatureHeaders(
  { id, secret, header = 'X-SVC-Tenant' }: { id: string; secret: string; header?: string },
  { method, target, body }: WireRequest,
  timestamp = Math.floor(Date.now() / 1000),
): Record<string, string> {
  return {
    [header]: id,
    'X-SVC-Timestamp': String(timestamp),
    'X-SVC-Signature': signRequest({ secret, timestamp, method, target, body: bytesOf(body) }),
  };
}

export function signedBy(tenant: TenantCredentials, wire: WireRequest): WireRequest {
  const signer = { id: tenant.tenantId, secret: tenant.hmacSecret };
  return { ...wire, headers: { ...signatureHeaders(signer, wire), ...wire.headers } };
}

/**
 * Sends the bytes, then waits until the connection closes or has had no traffic for `waitMs`.
 * Resolves with the first answer, or with undefined if none came.
 */
export async function sendBytes(
  baseUrl: string,
  bytes: string | Uint8Array,
  { keepsOpen = false, waitMs = 15_000 } = {},
): Promise<WireAnswer | undefined> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    socket.setTimeout(waitMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.once('close', () => resolve());
    if (keepsOpen) socket.write(bytes);
    else socket.end(bytes);
  });
  return parseAnswer(Buffer.concat(chunks));
}

function parseAnswer(bytes: Buffer): WireAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = end + 4;
  const length = Number(headers['content-length'] ?? bytes.length - start);
  return answerOf(status, headers, bytes.subarray(start, start + length));
}
