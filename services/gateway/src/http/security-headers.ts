import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * What of helmet means anything to answers that are no pages; those that are say more themselves.
 * `no-referrer` and `nosniff` and HSTS are among its defaults.
 */
const securityMiddleware = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: { action: 'deny' },
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: { policy: 'same-origin' },
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** Keeps what is set on it as it was written: a response tells names in lower case only. */
class HeaderRecord extends ServerResponse {
  readonly entries: [string, string][] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.entries.push([name, String(value)]);
    return this;
  }
}

function headersSet(): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new HeaderRecord(request);
  let isDone = false;
  securityMiddleware(request, response, (error?: unknown) => {
    isDone = error === undefined;
  });
  if (!isDone) throw new Error('helmet did not set its headers at once');
  return response.entries;
}

/** Names and values, as helmet sets them on every response alike: asked once, and not per request. */
export const securityHeaders: readonly (readonly [string, string])[] = headersSet();
