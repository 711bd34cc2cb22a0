import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** `no-referrer`, `nosniff` and HSTS are not named here, because they are helmet's defaults. */
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

class HeaderRecord extends ServerResponse {
  readonly entries: [string, string][] = [];

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.entries.push([name.toLowerCase(), String(value)]);
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
  if (!isDone) throw new Error('helmet failed or did not set its headers synchronously');
  return response.entries;
}

/** The headers that helmet sets. They do not depend on the request, so they are computed once. */
export const securityHeaders: readonly (readonly [string, string])[] = headersSet();
