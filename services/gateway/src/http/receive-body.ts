import { errorCatalogue } from '@svc/domain';
import type { Request, Response } from 'express';
import { problem, type ProblemAnswer } from './answer.ts';
import { type BodyReading, declaresTooLarge, readBody } from './read-body.ts';

/**
 * Reads the raw bytes of a body. Returns a problem if there are more than `bytesMax` (CONTRACT 2).
 */
export async function receiveBody(
  request: Request,
  response: Response,
  bytesMax: number,
): Promise<Exclude<BodyReading, { kind: 'too_large' }> | ProblemAnswer> {
  const waits = request.headers.expect?.toLowerCase() === '100-continue';
  if (waits && !declaresTooLarge(request, bytesMax)) response.writeContinue();
  const reading = await readBody(request, bytesMax);
  return reading.kind === 'too_large' ? payloadTooLarge : reading;
}

export const payloadTooLarge = problem(
  'payload_too_large',
  errorCatalogue.payload_too_large.description,
);
