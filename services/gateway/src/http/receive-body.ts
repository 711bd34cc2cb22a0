import { errorCatalogue } from '@svc/domain';
import type { Request, Response } from 'express';
import { problem, type ProblemAnswer, unavailable } from './answer.ts';
import type { BodyBudget, BodyReservation } from './body-budget.ts';
import { neededBytes, declaresTooLarge, readBody } from './read-body.ts';

export type ReceivedBody =
  /** The caller must release `reservation` when the sender is known, or the request has ended. */
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly reservation: BodyReservation }
  /** The connection has closed. The caller must send no answer. */
  | { readonly kind: 'aborted' }
  | ProblemAnswer;

/**
 * Reads the raw bytes of a body that nobody has authenticated. Returns a problem if there are more
 * than `bytesMax`, if they come too slowly, or if `budget` has no room (CONTRACT 2).
 */
export async function receiveBody(
  request: Request,
  response: Response,
  {
    bytesMax,
    budget,
    addressGroup,
  }: {
    readonly bytesMax: number;
    readonly budget: BodyBudget;
    readonly addressGroup: string;
  },
): Promise<ReceivedBody> {
  if (declaresTooLarge(request, bytesMax)) return payloadTooLarge;
  const reservation = budget.reserve(addressGroup, neededBytes(request, bytesMax));
  if (reservation === undefined) return noRoom;
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  const reading = await readBody(request, bytesMax);
  if (reading.kind === 'read') return { ...reading, reservation };
  reservation.release();
  if (reading.kind === 'aborted') return reading;
  return reading.kind === 'too_large' ? payloadTooLarge : tooSlow;
}

export const payloadTooLarge = problem(
  'payload_too_large',
  errorCatalogue.payload_too_large.description,
);
const tooSlow = problem('request_timeout', errorCatalogue.request_timeout.description);
const noRoom = unavailable(
  'unavailable',
  'The service receives too many bodies at the moment, from this address or in total. Repeat the request after the seconds in `Retry-After`, with the same idempotency key if it has one.',
);
