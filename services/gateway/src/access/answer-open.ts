import { openBodyBytesMax } from '@svc/domain';
import { addressGroup } from '@svc/runtime';
import type { Request, Response } from 'express';
import type { Answer } from '../http/answer.ts';
import { baseUrlOf } from '../http/base-url.ts';
import type { OpenEndpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { declaresTooLarge } from '../http/read-body.ts';
import { payloadTooLarge, receiveBody } from '../http/receive-body.ts';

const noBody = Buffer.alloc(0);

/** Undefined if the connection closed before the end of the request's body. */
export async function answerOpen(
  endpoint: OpenEndpoint,
  request: Request,
  response: Response,
  { requestId }: Exchange,
): Promise<Answer | undefined> {
  if (declaresTooLarge(request, openBodyBytesMax)) return payloadTooLarge;
  let body: Buffer = noBody;
  if (endpoint.takesBody === true) {
    const reading = await receiveBody(request, response, openBodyBytesMax);
    if (reading.kind === 'aborted') return undefined;
    if (reading.kind === 'problem') return reading;
    body = reading.bytes;
  }
  return endpoint.handle({
    requestId,
    addressGroup: addressGroup(request.ip),
    baseUrl: baseUrlOf(request),
    id: String(request.params['reference'] ?? request.params['guide'] ?? ''),
    body,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
  });
}
