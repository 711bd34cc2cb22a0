import { openBodyBytesMax } from '@svc/domain';
import { addressGroup } from '@svc/runtime';
import type { Request, Response } from 'express';
import type { Answer } from '../http/answer.ts';
import { baseUrlOf } from '../http/base-url.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { declaresTooLarge } from '../http/read-body.ts';
import { payloadTooLarge, receiveBody } from '../http/receive-body.ts';
import type { SignedOptions } from './answer-signed.ts';

const noBody = Buffer.alloc(0);

/** Undefined if the connection closed before the end of the request's body. */
export async function answerOpen(
  endpoint: OpenEndpoint,
  request: Request,
  response: Response,
  { requestId }: Exchange,
  { proxies, bodyBudget }: Pick<SignedOptions, 'proxies' | 'bodyBudget'>,
): Promise<Answer | undefined> {
  if (declaresTooLarge(request, openBodyBytesMax)) return payloadTooLarge;
  const sender = addressGroup(proxies.clientAddress(request));
  const handle = (body: Buffer): Promise<Answer> =>
    endpoint.handle({
      requestId,
      addressGroup: sender,
      baseUrl: baseUrlOf({ host: request.host, isTls: proxies.cameOverTls(request) }),
      id: String(request.params['reference'] ?? request.params['guide'] ?? ''),
      body,
      contentType: request.headers['content-type'],
      contentEncoding: request.headers['content-encoding'],
    });
  if (endpoint.takesBody !== true) return handle(noBody);
  const received = await receiveBody(request, response, {
    bytesMax: openBodyBytesMax,
    budget: bodyBudget,
    addressGroup: sender,
  });
  if (received.kind === 'aborted') return undefined;
  if (received.kind === 'problem') return received;
  try {
    return await handle(received.bytes);
  } finally {
    received.reservation.release();
  }
}
