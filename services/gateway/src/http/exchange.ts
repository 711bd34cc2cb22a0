import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Logger, requestIdOf } from '@svc/runtime';
import type { Answer } from './answer.ts';
import type { RateLimitState } from './rate-limit-headers.ts';

/** One request and its answer. Collects the fields of the log line. */
export interface Exchange {
  readonly requestId: string;
  /** The pattern of the route, never the path, which contains ids. */
  route?: string;
  tenantId?: string;
  operatorId?: string;
  /** The state of the tenant's rate limit. Undefined before it is known. */
  rateLimit?: RateLimitState;
  answer?: Answer;
}

interface ExchangeOptions {
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observe: ObserveRequest;
}

/** Counts an ended request. `route` is the pattern. `status` is undefined if no answer was sent. */
export type ObserveRequest = (
  request: { readonly route: string | undefined; readonly status: number | undefined },
  durationMs: number,
) => void;

/** Assigns the request id. Logs one line when the response ends or the client disconnects. */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { newId, clock, logger, observe }: ExchangeOptions,
): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id'], newId);
  const startedMs = clock.monotonicMs();
  const exchange: Exchange = { requestId };
  response.once('close', () => {
    const { route, answer } = exchange;
    const status = response.headersSent ? response.statusCode : undefined;
    const durationMs = clock.monotonicMs() - startedMs;
    const logFields = answer?.kind === 'json' ? answer.logFields : undefined;
    observe({ route, status }, durationMs);
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
