import type { IncomingHttpHeaders } from 'node:http';

import { checkWebhookUrl, isPublicAddress } from '@svc/domain';
import got, { TimeoutError } from 'got';

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

async function readUpTo(stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (length >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

function isRefused(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof DestinationRefused) return true;
  }
  return false;
}

function describeFailure(error: unknown, request: OutboundRequest): string {
  if (error instanceof TimeoutError) return `no complete answer within ${request.timeoutMs} ms`;
  if (request.signal?.aborted === true) return 'given up because the service is stopping';
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(0, reasonLengthMax);
}

/**
 * An HTTP client for URLs that tenants chose, which cannot be turned inwards (CONTRACT section 6):
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

  async function send(
    request: OutboundRequest,
  ): Promise<Omit<OutboundOutcome & { kind: 'responded' }, 'durationMs'>> {
    const stream = got.stream.post(request.url, {
      headers: { ...request.headers },
      body: request.body,
      agent: agents,
      followRedirect: false,
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: false,
      enableUnixSockets: false,
      timeout: { request: request.timeoutMs },
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const body = await readUpTo(stream, responseBytesMax);
    const { response } = stream;
    if (response === undefined) throw new Error('the answer has no head');
    return { kind: 'responded', statusCode: response.statusCode, headers: response.headers, body };
  }

  return {
    async post(request) {
      const startedMs = monotonicMs();
      const durationMs = (): number => Math.round(monotonicMs() - startedMs);
      const check = checkWebhookUrl(request.url, { allowPrivateNetworks });
      if (check.kind === 'refused') {
        return { kind: 'refused', reason: `the URL ${check.reason}`, durationMs: 0 };
      }
      try {
        return { ...(await send(request)), durationMs: durationMs() };
      } catch (error) {
        if (isRefused(error)) {
          const { message } = new DestinationRefused();
          return { kind: 'refused', reason: message, durationMs: durationMs() };
        }
        const reason = describeFailure(error, request);
        const timedOut = error instanceof TimeoutError;
        return { kind: 'failed', reason, durationMs: durationMs(), timedOut };
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
