import { randomUUID } from 'node:crypto';
import { nodeLinkPath } from '@svc/contracts';
import { signRequest } from '@svc/signing';
import type { LookUp } from '../executors/browser/egress/look-up.ts';
import { connectingBy, lookUpBySystem } from '../link-look-up.ts';
import { type LinkRefusal, refusalBytesMax } from '../link-refusal.ts';

export interface LinkQuestion {
  readonly link: string;
  /**
   * If `id` or `secret` is undefined, the request is unsigned. The service then answers 401, unless
   * it refuses the request earlier for another reason.
   */
  readonly id: string | undefined;
  readonly secret: string | undefined;
  readonly nowMs: () => number;
  /** The default is `lookUpBySystem`. */
  readonly lookUp?: LookUp;
}

export type LinkAnswer =
  | (LinkRefusal & {
      readonly kind: 'answered';
      /**
       * The seconds that this machine's clock is ahead of the service; negative if it is behind.
       * Undefined if the answer has no valid `date` header.
       */
      readonly aheadSeconds: number | undefined;
    })
  /**
   * `code` is the code of the network error, such as `ENOTFOUND`. For an error without a code it is
   * `unknown`.
   */
  | { readonly kind: 'unreachable'; readonly code: string };

const timeoutMs = 10_000;

function signedHeaders({ id, secret, nowMs }: LinkQuestion, target: string) {
  if (id === undefined || secret === undefined) return {};
  const timestamp = Math.floor(nowMs() / 1_000);
  return {
    'x-svc-node': id,
    'x-svc-timestamp': String(timestamp),
    'x-svc-signature': signRequest({ secret, timestamp, method: 'GET', target, body: '' }),
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/**
 * Sends a request that does not ask for a WebSocket, because a new link would end the link of a
 * running agent. The service answers 400 if it accepts the signature.
 */
export async function askLink(question: LinkQuestion): Promise<LinkAnswer> {
  const url = new URL(nodeLinkPath, question.link.replace(/^ws/i, 'http'));
  url.searchParams.set('nonce', randomUUID());
  const { default: got } = await import('got');
  const sentMs = question.nowMs();
  const stream = got.stream(url, {
    headers: signedHeaders(question, url.pathname + url.search),
    dnsLookup: connectingBy(question.lookUp ?? lookUpBySystem),
    timeout: { request: timeoutMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
  });
  let status = 0;
  let date: string | undefined;
  stream.on('response', (response: { statusCode: number; headers: { date?: string } }) => {
    status = response.statusCode;
    ({ date } = response.headers);
  });
  let body = '';
  try {
    for await (const chunk of stream) {
      body += String(chunk);
      if (body.length > refusalBytesMax) break;
    }
  } catch (error) {
    return { kind: 'unreachable', code: codeOf(error) };
  }
  const serviceMs = date === undefined ? Number.NaN : Date.parse(date);
  // The service is assumed to have answered halfway between sending and receiving. The `date`
  // header is cut to whole seconds, so half a second is added to it.
  const aheadMs = (sentMs + question.nowMs()) / 2 - (serviceMs + 500);
  const aheadSeconds = Number.isNaN(aheadMs) ? undefined : Math.round(aheadMs / 1_000);
  return { kind: 'answered', status, body, aheadSeconds };
}
