import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';

import { checkWebhookUrl, isPublicAddress } from '@svc/domain';
import { createAgents, DestinationRefused, resolveAllBySystem } from './guarded-agents.ts';
import { createResolver, type ResolveAll } from './resolve-names.ts';

/** Every request ends as one of these; none throws. */
export type OutboundOutcome =
  | {
      readonly kind: 'responded';
      readonly statusCode: number;
      readonly headers: IncomingHttpHeaders;
      /** The first `responseBytesMax` bytes. */
      readonly body: Uint8Array;
      readonly durationMs: number;
    }
  /** The destination is none that may be connected to; nothing was sent. */
  | { readonly kind: 'refused'; readonly reason: string; readonly durationMs: number }
  /** No complete answer in time; the other side may have received the request all the same. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly durationMs: number;
      readonly timedOut: boolean;
    };

export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** From the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface OutboundHttp {
  post(request: OutboundRequest): Promise<OutboundOutcome>;
  close(): void;
}

/** Of an answer, no more than this is read; the rest is cut off with the connection. */
export const responseBytesMax = 64 * 1024;
const idleConnectionsPerHostMax = 64;
const idleConnectionMs = 20_000;
const reasonLengthMax = 200;

/** The first bytes of an answer; beyond them it is cut off, together with its connection. */
function readUpTo(incoming: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const settle = (): void => resolve(Buffer.concat(chunks).subarray(0, bytesMax));
    incoming.on('data', (chunk: Uint8Array) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < bytesMax) return;
      settle();
      incoming.destroy();
    });
    incoming.on('end', settle);
    incoming.on('error', reject);
    // Behind an end or an error it changes nothing.
    incoming.on('close', () => reject(new Error('the answer ended before it was complete')));
  });
}

class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

type Responded = Omit<OutboundOutcome & { kind: 'responded' }, 'durationMs'>;

/** One request by `node:http`, which follows nothing, repeats nothing and unpacks nothing by itself. */
function sendOnce(
  { url, headers, body, timeoutMs, signal }: OutboundRequest,
  agents: ReturnType<typeof createAgents>,
): Promise<Responded> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const isTls = target.protocol === 'https:';
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': body.byteLength },
      agent: isTls ? agents.https : agents.http,
    };
    const outgoing = (isTls ? https : http).request(target, options);
    const timer = setTimeout(() => fail(new TimedOut()), timeoutMs);
    const onAbort = (): void => fail(new GivenUp());
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error): void => {
      release();
      reject(error);
      outgoing.destroy();
    };
    outgoing.on('error', fail);
    const onClose = (): void => fail(new Error('the connection ended without an answer'));
    outgoing.on('close', onClose);
    const succeed = (
      { statusCode = 0, headers: sent }: IncomingMessage,
      read: Uint8Array,
    ): void => {
      release();
      resolve({ kind: 'responded', statusCode, headers: sent, body: read });
    };
    outgoing.on('response', (incoming) => {
      // From here on the answer says how it ends.
      outgoing.off('close', onClose);
      readUpTo(incoming, responseBytesMax).then((read) => succeed(incoming, read), fail);
    });
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted === true) onAbort();
    else outgoing.end(body);
  });
}

function isRefused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DestinationRefused) return true;
  }
  return false;
}

function describeFailure(error: unknown, request: OutboundRequest): string {
  if (error instanceof TimedOut) return `no complete answer within ${request.timeoutMs} ms`;
  if (error instanceof GivenUp) return 'given up because the service is stopping';
  const message = error instanceof Error ? error.message : String(error);
  // Parts of it may be the other side's words, and it is stored and shown.
  return message
    .slice(0, reasonLengthMax)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\uFFFD');
}

/**
 * An HTTP client for URLs that tenants chose, which cannot be turned inwards (CONTRACT 6):
 * https only, public addresses only, checked on the connection itself; no redirects, no retries, no
 * credentials in URLs, one limit of time over everything and one of bytes over the answer.
 * `allowPrivateNetworks` admits http and any address, for the embedded stack and tests.
 */
export function createOutboundHttp({
  allowPrivateNetworks,
  monotonicMs,
  resolveAll,
}: {
  readonly allowPrivateNetworks: boolean;
  readonly monotonicMs: () => number;
  readonly resolveAll?: ResolveAll;
}): OutboundHttp {
  const agents = createAgents({
    isAllowed: allowPrivateNetworks ? () => true : isPublicAddress,
    keepAlive: {
      keepAlive: true,
      maxFreeSockets: idleConnectionsPerHostMax,
      timeout: idleConnectionMs,
    },
    resolveAll: resolveAll ?? (allowPrivateNetworks ? resolveAllBySystem : createResolver()),
  });

  return {
    async post(request) {
      const startedMs = monotonicMs();
      const durationMs = (): number => Math.round(monotonicMs() - startedMs);
      const check = checkWebhookUrl(request.url, { allowPrivateNetworks });
      if (check.kind === 'refused') {
        return { kind: 'refused', reason: `the URL ${check.reason}`, durationMs: 0 };
      }
      try {
        return { ...(await sendOnce(request, agents)), durationMs: durationMs() };
      } catch (error) {
        if (isRefused(error)) {
          const { message } = new DestinationRefused();
          return { kind: 'refused', reason: message, durationMs: durationMs() };
        }
        const reason = describeFailure(error, request);
        const timedOut = error instanceof TimedOut;
        return { kind: 'failed', reason, durationMs: durationMs(), timedOut };
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
