import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { checkWebhookUrl, createAddressRule, type Interfaces } from '@svc/domain';
import { createAgents, DestinationRefused } from './guarded-agents.ts';
import { createResolver, type ResolveAll, resolveAllBySystem } from './resolve-names.ts';

/** Every request ends with one of these outcomes. No request throws. */
export type OutboundOutcome =
  | {
      readonly kind: 'responded';
      readonly statusCode: number;
      readonly headers: IncomingHttpHeaders;
      /** The first bytes of the response body, at most `bytesMax`. */
      readonly body: Uint8Array;
      readonly durationMs: number;
    }
  /** The URL, or the address of its host, is not allowed. Nothing was sent. */
  | { readonly kind: 'refused'; readonly reason: string; readonly durationMs: number }
  /** The request got no complete response. The endpoint may have received the request. */
  | {
      readonly kind: 'failed';
      /** Begins with the step that failed: `look-up: `, `connect: `, `TLS: ` or `request: `. */
      readonly reason: string;
      readonly durationMs: number;
      /** True if the time limit ended the request. */
      readonly timedOut: boolean;
    };

export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The most time for the whole request: name look-up, connection, sending and response. */
  readonly timeoutMs: number;
  /** The most bytes of the response body that are returned; default `responseBytesMax`. */
  readonly bytesMax?: number;
  readonly signal?: AbortSignal;
}

export interface OutboundHttp {
  post(request: OutboundRequest): Promise<OutboundOutcome>;
  close(): void;
}

/** The default of `bytesMax`. The connection is closed when `bytesMax` bytes have arrived. */
export const responseBytesMax = 64 * 1024;
const idleConnectionsPerHostMax = 64;
const idleConnectionMs = 20_000;
const reasonLengthMax = 200;

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
    // `close` also follows `end` and `error`. In these two cases the promise is settled already, so
    // this `reject` has no effect.
    incoming.on('close', () => reject(new Error('the response ended before it was complete')));
  });
}

class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

type Step = 'look-up' | 'connect' | 'TLS' | 'request';

/** The step that a request has reached. `sendOnce` moves it forward. */
interface Progress {
  step: Step;
}

const stepTimeouts: Readonly<Record<Step, string>> = {
  'look-up': 'the name servers gave no address',
  connect: 'no connection',
  TLS: 'no complete TLS handshake',
  request: 'no complete response',
};

function followSteps(outgoing: http.ClientRequest, isTls: boolean, progress: Progress): void {
  outgoing.on('socket', (socket) => {
    const connected = (): void => void (progress.step = isTls ? 'TLS' : 'request');
    if (!socket.connecting) return void (progress.step = 'request');
    // Node looks up no address, and emits no `lookup`, if the URL has an address as its host.
    if (isIP(outgoing.host.replace(/^\[|\]$/g, '')) !== 0) progress.step = 'connect';
    socket.on('lookup', (error) => {
      if (error === null && progress.step === 'look-up') progress.step = 'connect';
    });
    socket.once('connect', connected);
    socket.once('secureConnect', () => void (progress.step = 'request'));
  });
}

type Responded = Omit<OutboundOutcome & { kind: 'responded' }, 'durationMs'>;

/**
 * Sends one request without redirects, retries or decompression. Rejects on an error, after
 * `timeoutMs`, and if `signal` is aborted.
 */
function sendOnce(
  { url, headers, body, timeoutMs, bytesMax = responseBytesMax, signal }: OutboundRequest,
  agents: ReturnType<typeof createAgents>,
  progress: Progress,
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
    followSteps(outgoing, isTls, progress);
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
    const onClose = (): void => fail(new Error('the connection closed without a response'));
    outgoing.on('close', onClose);
    const succeed = (
      { statusCode = 0, headers: sent }: IncomingMessage,
      read: Uint8Array,
    ): void => {
      release();
      resolve({ kind: 'responded', statusCode, headers: sent, body: read });
    };
    outgoing.on('response', (incoming) => {
      // From here on `readUpTo` reports how the response ends.
      outgoing.off('close', onClose);
      readUpTo(incoming, bytesMax).then((read) => succeed(incoming, read), fail);
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

function describeFailure(
  error: unknown,
  { step }: Progress,
  { timeoutMs }: OutboundRequest,
): string {
  if (error instanceof TimedOut) return `${step}: ${stepTimeouts[step]} within ${timeoutMs} ms`;
  if (error instanceof GivenUp) return 'cancelled because the service is stopping';
  const message = error instanceof Error ? error.message : String(error);
  // The message is stored and shown, and it may contain text from the endpoint. So it is cut, and
  // its control characters are replaced.
  return `${step}: ${message}`
    .slice(0, reasonLengthMax)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\uFFFD');
}

/**
 * The HTTP client follows no redirects and does not retry. Unless `allowPrivateNetworks` is true,
 * it sends only over https, and only where `createAddressRule` allows it (CONTRACT 6).
 */
export function createOutboundHttp({
  allowPrivateNetworks,
  monotonicMs,
  deniedCidrs = [],
  interfaces = networkInterfaces,
  resolveAll,
}: {
  /**
   * Allows http and any address. For webhooks, `WEBHOOK_ALLOW_PRIVATE_NETWORKS` decides this. For
   * the Solana RPC server, which an operator chooses, this is always true.
   */
  readonly allowPrivateNetworks: boolean;
  readonly monotonicMs: () => number;
  /** The blocks of `OUTBOUND_DENY_CIDRS`. */
  readonly deniedCidrs?: readonly string[];
  readonly interfaces?: () => Interfaces;
  readonly resolveAll?: ResolveAll;
}): OutboundHttp {
  const agents = createAgents({
    isAllowed: createAddressRule({
      interfaces,
      monotonicMs,
      denied: deniedCidrs,
      allowsPrivate: allowPrivateNetworks,
    }),
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
      const progress: Progress = { step: 'look-up' };
      try {
        return { ...(await sendOnce(request, agents, progress)), durationMs: durationMs() };
      } catch (error) {
        if (isRefused(error)) {
          const { message } = new DestinationRefused();
          return { kind: 'refused', reason: message, durationMs: durationMs() };
        }
        const reason = describeFailure(error, progress, request);
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
