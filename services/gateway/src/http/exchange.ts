import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Logger, requestIdOf } from '@svc/runtime';
import { noTracing, type RequestTrace, type Tracing } from '@svc/tracing';
import type { Answer } from './answer.ts';
import type { RateLimitState } from './rate-limit-headers.ts';
import type { RequestLines } from './request-lines.ts';

export interface Exchange {
  readonly requestId: string;
  /**
   * The pattern of the route. It is logged instead of the path, which contains ids. Undefined if
   * the request reaches no endpoint.
   */
  route?: string;
  tenantId?: string;
  operatorId?: string;
  /** The state of the tenant's rate limit. Set only if a tenant's request is authenticated. */
  rateLimit?: RateLimitState;
  answer?: Answer;
  readonly trace: RequestTrace;
}

interface ExchangeOptions extends RequestObserver {
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly requestLines: RequestLines;
  readonly tracing?: Tracing;
}

export interface RequestObserver {
  readonly begun: () => void;
  /**
   * `route` is undefined if the request reached no endpoint. `status` is undefined if no answer was
   * sent.
   */
  readonly observe: (
    request: {
      readonly route: string | undefined;
      readonly method: string | undefined;
      readonly status: number | undefined;
    },
    durationMs: number,
  ) => void;
}

/**
 * Begins the trace and the metrics of a request. Both end when the response ends or the client
 * disconnects.
 */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { newId, clock, logger, requestLines, begun, observe, tracing = noTracing }: ExchangeOptions,
): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id'], newId);
  const startedMs = clock.monotonicMs();
  const trace = tracing.request({
    traceparent: request.headers['traceparent'],
    tracestate: request.headers['tracestate'],
  });
  const exchange: Exchange = { requestId, trace };
  begun();
  response.once('close', () => {
    const { route, answer } = exchange;
    const status = response.headersSent ? response.statusCode : undefined;
    const durationMs = clock.monotonicMs() - startedMs;
    const logFields = answer?.kind === 'json' ? answer.logFields : undefined;
    observe({ route, method: request.method, status }, durationMs);
    trace.end({
      method: methodOf(request),
      route,
      status,
      tenantId: exchange.tenantId,
      submissionId:
        typeof logFields?.submissionId === 'string' ? logFields.submissionId : undefined,
    });
    if (!requestLines.admits({ status, durationMs })) return;
    const fields = {
      requestId,
      method: request.method,
      route,
      tenantId: exchange.tenantId,
      operatorId: exchange.operatorId,
      status,
      code: answer?.kind === 'problem' ? answer.code : undefined,
      submissionId: logFields?.submissionId,
      deliveryId: logFields?.deliveryId,
      durationMs: Math.round(durationMs),
    };
    logger.info(fields, response.writableFinished ? 'request' : 'request abandoned');
  });
  return exchange;
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/** The HTTP method that a span shows. */
function methodOf({ method = '' }: IncomingMessage): string {
  return knownMethods.has(method) ? method : '_OTHER';
}
