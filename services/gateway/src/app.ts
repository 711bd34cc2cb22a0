import type { IncomingMessage } from 'node:http';
import { errorCatalogue } from '@svc/domain';
import { QueueUnavailable } from '@svc/queue';
import type { Logger } from '@svc/runtime';
import { isUnavailable, isUnknownKey } from '@svc/store';
import type { Tracing } from '@svc/tracing';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { answerOpen } from './access/answer-open.ts';
import { answerSigned, type SignedOptions } from './access/answer-signed.ts';
import { type Answer, notFound, problem, unavailable } from './http/answer.ts';
import type { Endpoint } from './http/endpoint.ts';
import { beginExchange, type Exchange, type RequestObserver } from './http/exchange.ts';
import type { RequestLines } from './http/request-lines.ts';
import { sendAnswer } from './http/send.ts';

export interface AppOptions extends SignedOptions, RequestObserver {
  readonly endpoints: readonly Endpoint[];
  /** If true, a request whose client did not use TLS is refused. */
  readonly isTlsOnly?: boolean;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly requestLines: RequestLines;
  readonly tracing?: Tracing;
}

/** The HTTP API of tenants and operators. The checks run in the order of CONTRACT 3. */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', (peer: string) => options.proxies.isTrusted(peer));
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const exchangeOf = (request: Request, response: Response): Exchange => {
    const exchange = exchanges.get(request) ?? beginExchange(request, response, options);
    exchanges.set(request, exchange);
    return exchange;
  };
  const reply = async (request: Request, response: Response, answer: Answer): Promise<void> => {
    const exchange = exchangeOf(request, response);
    exchange.answer = answer;
    await sendAnswer(request, response, answer, exchange);
  };

  app.use(async (request, response, next) => {
    exchangeOf(request, response);
    const refusal = refusalBeforeRoute(request, options);
    if (refusal === undefined) next();
    else await reply(request, response, refusal);
  });
  for (const path of new Set(options.endpoints.map((endpoint) => endpoint.path))) {
    const methods = options.endpoints.filter((endpoint) => endpoint.path === path);
    for (const endpoint of methods) {
      app[endpoint.method](path, async (request, response) => {
        const exchange = exchangeOf(request, response);
        exchange.route = path;
        const answer = await answerOf(endpoint, request, response, exchange, options);
        if (answer !== undefined) await reply(request, response, answer);
      });
    }
    app.all(path, (request, response) => reply(request, response, methodNotAllowed(methods)));
  }
  app.use((request, response) => reply(request, response, notFound));
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    reply(request, response, answerOfError(error, exchangeOf(request, response), options.logger)),
  );
  return app;
}

function refusalBeforeRoute(
  request: IncomingMessage,
  { isTlsOnly = false, proxies }: AppOptions,
): Answer | undefined {
  if (!isParsable(request)) return problem('bad_request', badRequestDetail);
  if (!isTlsOnly || proxies.cameOverTls(request)) return undefined;
  return problem('misdirected_request', errorCatalogue.misdirected_request.description);
}

const badRequestDetail =
  'The request is malformed. Send a Host header, and percent-encode the path and the query.';
const pathPattern = /^[^?]*/;

/**
 * False if the target is not printable ASCII, an HTTP/1.1 request has no `Host`, or the path has
 * wrong percent-encoding. The HTTP server accepts all three.
 */
function isParsable(request: IncomingMessage): boolean {
  const target = request.url ?? '';
  if (/[^\x21-\x7e]/.test(target)) return false;
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return false;
  try {
    const path = pathPattern.exec(target)?.[0] ?? '';
    // The result is used, because a bundler removes a call whose result is not.
    return decodeURIComponent(path).length <= path.length;
  } catch {
    return false;
  }
}

const allowed = { get: 'GET, HEAD', post: 'POST', patch: 'PATCH', delete: 'DELETE' } as const;

function methodNotAllowed(endpoints: readonly Endpoint[]): Answer {
  const allow = endpoints.map(({ method }) => allowed[method]).join(', ');
  return problem(
    'method_not_allowed',
    `This route does not accept this method. Use ${allow}.`,
    {},
    { allow },
  );
}

/** Undefined if the connection closed before the end of the request's body. */
async function answerOf(
  endpoint: Endpoint,
  request: Request,
  response: Response,
  exchange: Exchange,
  options: AppOptions,
): Promise<Answer | undefined> {
  try {
    if (endpoint.access === 'open')
      return await answerOpen(endpoint, request, response, exchange, options);
    return await answerSigned(endpoint, request, response, exchange, options);
  } catch (error) {
    return answerOfError(error, exchange, options.logger);
  }
}

/**
 * Answers 503 if a dependency is unavailable. Any other error is a bug and gets 500. The details
 * are only in the log.
 */
function answerOfError(error: unknown, exchange: Exchange, logger: Logger): Answer {
  const fields = { err: error, requestId: exchange.requestId, route: exchange.route };
  if (isUnavailable(error) || isUnknownKey(error) || error instanceof QueueUnavailable) {
    logger.warn(fields, 'a dependency is unavailable');
    return unavailable(
      'unavailable',
      'A dependency of the service is unavailable. Repeat the request after the seconds in `Retry-After`, with the same idempotency key if it has one.',
    );
  }
  logger.error(fields, 'request failed');
  return problem(
    'internal_error',
    'The service could not process the request. Try again; if the error persists, contact support and quote `requestId`.',
  );
}
