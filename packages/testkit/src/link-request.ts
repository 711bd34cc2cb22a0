import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { nodeLinkPath, nodeLinkSubprotocol } from '@svc/contracts';
import { signRequest } from '@svc/signing';
import { WebSocket } from 'ws';

/** The upgrade was answered by an ordinary HTTP response. */
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

/** Who a node is, and where it connects. */
export interface NodeIdentity {
  /** Where the dispatcher listens: `ws://host:port`, with or without the path of the link. */
  readonly link: string;
  /** As on the wire (`nod_…`). */
  readonly nodeId: string;
  readonly secret: string;
  /** Whom the service's certificate is signed by, where the link is TLS. */
  readonly ca?: string;
}

export interface LinkRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly subprotocols: readonly string[];
  readonly ca?: string;
}

/** The upgrade request of a well-behaved node, for tests to spoil. */
export function linkRequest({ link, nodeId, secret, ca }: NodeIdentity): LinkRequest {
  const url = new URL(nodeLinkPath, link);
  // A signature opens one link only, and a test links a node twice in a second.
  url.searchParams.set('nonce', randomUUID());
  const timestamp = Math.floor(Date.now() / 1000);
  const target = url.pathname + url.search;
  return {
    url: url.href,
    headers: {
      'x-svc-node': nodeId,
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': signRequest({ secret, timestamp, method: 'GET', target, body: '' }),
    },
    subprotocols: [nodeLinkSubprotocol],
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Opens a WebSocket as asked. Throws `LinkRefused` where the answer is another one. */
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
