import type { MakeOffer, OfferResult } from '@svc/contracts';
import { inBackground, type Dispatcher } from '../dispatcher.ts';

export function reportOfferResult(
  dispatcher: Dispatcher,
  { coordinatorId, submissionId, offerId }: MakeOffer,
  result: OfferResult,
  reason?: string,
): void {
  const sent = dispatcher.bus.send(coordinatorId, {
    kind: 'offer_ended',
    submissionId,
    offerId,
    result,
    ...(reason === undefined ? {} : { reason }),
    ...(result === 'dispatched' ? { proof: dispatcher.proveDispatched(submissionId) } : {}),
  });
  inBackground(dispatcher, 'report the result of an offer', sent);
}
