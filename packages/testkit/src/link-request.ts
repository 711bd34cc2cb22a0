import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { nodeLinkPath, nodeLinkSubprotocol } from '@svc/contracts';
import { signRequest } from '@svc/signing';
import { WebSocket } from 'ws';

/** The service refused the upgrade to a WebSocket with an ordinary HTTP response. */
export class LinkRefused extends Error {
  override readonly name = 'LinkRefused';
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;

  constructor(response: IncomingMessage, body: string) {
    super(`the link was refused with ${response.statusCode}: ${body}`);
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.body = body;
  }
}

export interface NodeIdentity {
  /** The URL of the dispatcher (`ws://` or `wss://`). The path `/node/v1` is optional. */
  readonly link: string;
  /** The wire id (`nod_…`). */
  readonly nodeId: string;
  readonly secret: string;
  /** The certificate authority of the service, as PEM, if the link uses TLS. */
  readonly ca?: string;
  /** Headers of a proxy, such as `x-forwarded-for`. */
  readonly forwarded?: Readonly<Record<string, string>>;
}

export interface LinkRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly subprotocols: readonly string[];
  readonly ca?: string;
}

export function linkRequest({ link, nodeId, secret, ca, forwarded }: NodeIdentity): LinkRequest {
  const url = new URL(nodeLinkPath, link);
  // A signature opens one link only. The nonce makes two signatures differ if a test links a node
  // twice in one second.
  url.searchParams.set('nonce', randomUUID());
  const timestamp = Math.floor(Date.now() / 1000);
  const target = url.pathname + url.search;
  return {
    url: url.href,
    headers: {
      ...forwarded,
      'x-svc-node': nodeId,
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': signRequest({ secret, timestamp, method: 'GET', target, body: '' }),
    },
    subprotocols: [nodeLinkSubprotocol],
    ...(ca === undefined ? {} : { ca }),
  };
}

/**
 * Opens a WebSocket. Throws `LinkRefused` if the upgrade is refused, and another error if there is
 * no connection.
 */
export async function openLinkSocket(request: LinkRequest): Promise<WebSocket> {
  const socket = new WebSocket(request.url, [...request.subprotocols], {
    headers: { ...request.headers },
    ...(request.ca === undefined ? {} : { ca: request.ca }),
    perMessageDeflate: false,
  });
  return await new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      void readBody(response).then((body) => reject(new LinkRefused(response, body)));
    });
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return body;
}
