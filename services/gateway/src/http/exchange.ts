import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Logger } from '@svc/runtime';
import type { Answer } from './answer.ts';
import { requestIdOf } from './request-id.ts';

/** One request on its way to its answer: what the line of the log will say of it. */
export interface Exchange {
  readonly requestId: string;
  /** The pattern of the route, never the path itself. */
  route?: string;
  tenantId?: string;
  operatorId?: string;
  answer?: Answer;
}

interface ExchangeOptions {
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observe: ObserveRequest;
}

/** Counts a request that has ended; `route` is the pattern, `status` is undefined without an answer. */
export type ObserveRequest = (
  request: { readonly route: string | undefined; readonly status: number | undefined },
  durationMs: number,
) => void;

/** Gives a request its id, and one log line once it is answered or its client is gone. */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { newId, clock, logger, observe }: ExchangeOptions,
): Exchange {
  const requestId = requestIdOf(request.headers['x-request-id'], newId);
  const startedMs = clock.monotonicMs();
  const exchange: Exchange = { requestId };
  response.setHeader('x-request-id', requestId);
  response.once('close', () => {
    const { route, tenantId, operatorId, answer } = exchange;
    const status = response.headersSent ? response.statusCode : undefined;
    const durationMs = clock.monotonicMs() - startedMs;
    observe({ route, status }, durationMs);
    const fields = {
      requestId,
      method: request.method,
      route,
      tenantId,
      operatorId,
      status,
      code: answer?.kind === 'problem' ? answer.code : undefined,
      ...(answer?.kind === 'json' ? answer.logFields : {}),
      durationMs: Math.round(durationMs),
    };
    logger.info(fields, response.writableFinished ? 'request' : 'request abandoned');
  });
  return exchange;
}
