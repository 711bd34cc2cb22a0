import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { readDestination } from './destination.ts';
import type { Dialer } from './dialer.ts';

export interface FileRequest {
  readonly url: string;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly signal: AbortSignal;
}

export type FetchedFile =
  | { readonly kind: 'fetched'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly reason: FetchFailure };

type FetchFailure =
  | 'refused'
  | 'unreachable'
  | 'bad_status'
  | 'too_many_redirects'
  | 'too_large'
  | 'hash_mismatch';

/** The most bytes of a file (CONTRACT 10, "Limits"). */
export const fileBytesMax = 25 * 1024 * 1024;
const fetchTimeoutMs = 60_000;
const redirectsMax = 5;
const redirectStatuses: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

type Step =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: FetchFailure };

function failed(reason: FetchFailure): Step & FetchedFile {
  return { kind: 'failed', reason };
}

/** Returns undefined if the body is larger than `fileBytesMax`. Rejects if it is incomplete. */
async function readBody(response: http.IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > fileBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function stepOf(response: http.IncomingMessage, url: URL): Promise<Step> {
  const { location } = response.headers;
  if (redirectStatuses.includes(response.statusCode) && location !== undefined) {
    const next = URL.parse(location, url.href)?.href;
    return next === undefined ? failed('bad_status') : { kind: 'redirect', url: next };
  }
  if (response.statusCode !== 200) return failed('bad_status');
  if (Number(response.headers['content-length'] ?? 0) > fileBytesMax) return failed('too_large');
  const bytes = await readBody(response);
  return bytes === undefined ? failed('too_large') : { kind: 'body', bytes };
}

function responseFrom(
  url: URL,
  socket: Socket,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const isTls = url.protocol === 'https:';
  const createConnection = (): Socket =>
    isTls ? tls.connect({ socket, host: url.hostname, servername: servernameOf(url) }) : socket;
  return new Promise((resolve, reject) => {
    const request = (isTls ? https : http).request(url, {
      createConnection,
      signal,
      headers: { accept: '*/*', 'accept-encoding': 'identity', connection: 'close' },
    });
    request.on('response', resolve).on('error', reject).on('close', reject).end();
  });
}

/** The server name for TLS. Empty for an IP address, which TLS does not allow as a name. */
function servernameOf({ hostname }: URL): string {
  return /^[0-9.]+$|^\[/.test(hostname) ? '' : hostname;
}

async function fetchOnce(dialer: Dialer, address: string, signal: AbortSignal): Promise<Step> {
  const destination = readDestination(address);
  if (destination === undefined) return failed('refused');
  const dialed = await dialer.dial(destination);
  if (dialed.kind !== 'connected') {
    return failed(dialed.kind === 'refused' ? 'refused' : 'unreachable');
  }
  const { socket } = dialed;
  try {
    const url = new URL(address);
    return await stepOf(await responseFrom(url, socket, signal), url);
  } catch {
    return failed('unreachable');
  } finally {
    socket.destroy();
  }
}

/**
 * Fetches a file and checks its hash (CONTRACT 10, "Input"). The address rules of `dialer` apply to
 * `url` and to the target of each redirect. Never rejects.
 */
export async function fetchFile(
  dialer: Dialer,
  { url, sha256, signal }: FileRequest,
): Promise<FetchedFile> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMs)]);
  let at = url;
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    if (limited.aborted) return failed('unreachable');
    const step = await fetchOnce(dialer, at, limited);
    if (step.kind === 'failed') return step;
    if (step.kind === 'body') {
      const hash = createHash('sha256').update(step.bytes).digest('hex');
      return hash === sha256 ? { kind: 'fetched', bytes: step.bytes } : failed('hash_mismatch');
    }
    at = step.url;
  }
  return failed('too_many_redirects');
}
