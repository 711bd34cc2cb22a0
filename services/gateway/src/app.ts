import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMax, errorCatalogue, toWireId } from '@svc/domain';
import { QueueUnavailable } from '@svc/queue';
import type { Clock, Logger } from '@svc/runtime';
import { sha256Hex } from '@svc/signing';
import { isUnavailable, type TenantCredentials } from '@svc/store';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { authenticateTenant } from './authenticate.ts';
import { type Answer, notFound, problem, unavailable } from './http/answer.ts';
import type { Endpoint, TenantEndpoint } from './http/endpoint.ts';
import { beginExchange, type Exchange } from './http/exchange.ts';
import { unknownParameters } from './http/query.ts';
import { declaresTooLarge, readBody } from './http/read-body.ts';
import { sendAnswer } from './http/send.ts';

export interface AppOptions {
  readonly endpoints: readonly Endpoint[];
  /** Null for an unknown tenant. */
  readonly findCredentials: (tenantId: string) => Promise<TenantCredentials | null>;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The tenant API over HTTP. The order of the checks is that of CONTRACT section 3: unparsable,
 * route and method, size, signature, query parameters, and then what the endpoint itself checks.
 */
export function createApp(options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.enable('case sensitive routing').enable('strict routing');
  app.use(helmet());
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const exchangeOf = (request: Request, response: Response): Exchange => {
    const exchange = exchanges.get(request) ?? beginExchange(request, response, options);
    exchanges.set(request, exchange);
    return exchange;
  };
  const reply = async (request: Request, response: Response, answer: Answer): Promise<void> => {
    const exchange = exchangeOf(request, response);
    exchange.answer = answer;
    await sendAnswer(request, response, answer, exchange.requestId);
  };

  app.use(async (request, response, next) => {
    exchangeOf(request, response);
    response.setHeader('cache-control', 'no-store');
    if (isParsable(request)) next();
    else await reply(request, response, problem('bad_request', badRequestDetail));
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
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    reply(request, response, answerOfError(error, exchangeOf(request, response), options.logger)),
  );
  return app;
}

const badRequestDetail = 'The request is not HTTP/1.1 that can be understood.';
const pathPattern = /^[^?]*/;

/** What Node lets through and yet is no request: a path that cannot be decoded, no host. */
function isParsable(request: IncomingMessage): boolean {
  const target = request.url ?? '';
  if (/[^\x21-\x7e]/.test(target)) return false;
  if (request.httpVersion === '1.1' && request.headers.host === undefined) return false;
  try {
    decodeURIComponent(pathPattern.exec(target)?.[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

function methodNotAllowed(endpoints: readonly Endpoint[]): Answer {
  const allow = endpoints.map(({ method }) => (method === 'get' ? 'GET, HEAD' : 'POST')).join(', ');
  return problem('method_not_allowed', `This route has ${allow} only.`, {}, { allow });
}

/** Undefined where the client has gone away and nobody waits for an answer. */
async function answerOf(
  endpoint: Endpoint,
  request: Request,
  response: ServerResponse,
  exchange: Exchange,
  options: AppOptions,
): Promise<Answer | undefined> {
  try {
    if (endpoint.access === 'open') return await endpoint.handle();
    return await answerTenant(endpoint, request, response, exchange, options);
  } catch (error) {
    return answerOfError(error, exchange, options.logger);
  }
}

async function answerTenant(
  endpoint: TenantEndpoint,
  request: Request,
  response: ServerResponse,
  exchange: Exchange,
  options: AppOptions,
): Promise<Answer | undefined> {
  const waits = request.headers.expect?.toLowerCase() === '100-continue';
  if (waits && !declaresTooLarge(request, bodyBytesMax)) response.writeContinue();
  const reading = await readBody(request, bodyBytesMax);
  if (reading.kind === 'aborted') return undefined;
  if (reading.kind === 'too_large') {
    return problem('payload_too_large', errorCatalogue.payload_too_large.description);
  }
  const target = request.originalUrl;
  const signed = {
    method: request.method,
    target,
    headers: request.headersDistinct,
    bodySha256: sha256Hex(reading.bytes),
  };
  const authentication = await authenticateTenant(
    signed,
    options.findCredentials,
    options.clock.nowMs(),
  );
  if (authentication.kind === 'problem') return authentication;
  const { tenant } = authentication;
  exchange.tenantId = toWireId('tnt', tenant.tenantId);
  const refusal = unknownParameters(target, endpoint.parameters);
  if (refusal !== undefined) return refusal;
  return endpoint.handle({
    requestId: exchange.requestId,
    tenant,
    id: String(request.params['id'] ?? ''),
    body: reading.bytes,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  });
}

/** A dead dependency is 503; anything else is a defect of ours, and told to the log alone. */
function answerOfError(error: unknown, exchange: Exchange, logger: Logger): Answer {
  const fields = { err: error, requestId: exchange.requestId, route: exchange.route };
  if (isUnavailable(error) || error instanceof QueueUnavailable) {
    logger.warn(fields, 'a dependency is unavailable');
    return unavailable('unavailable', 'A part of the service cannot be reached at present.');
  }
  logger.error(fields, 'request failed');
  return problem('internal_error', 'The service failed to answer; quote `requestId`.');
}
