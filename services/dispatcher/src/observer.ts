import type { BadFrameCode, FrameFromNode } from '@svc/contracts';
import type { OfferAnswer } from '@svc/domain';

export interface DispatcherObserver {
  countBadFrame(code: BadFrameCode): void;
  /** Reports the time from the arrival of a frame to the end of its handling. */
  timeFrame(type: FrameFromNode['type'], durationMs: number): void;
  /** Reports the time from an offer to its end, at the dispatcher of the node's link. */
  timeOffer(answer: OfferAnswer, durationMs: number): void;
}
