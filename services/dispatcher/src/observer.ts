import type { BadFrameCode, FrameFromNode } from '@svc/contracts';
import type { OfferAnswer } from '@svc/domain';

export interface DispatcherObserver {
  countBadFrame(code: BadFrameCode): void;
  /** Reports the time from the arrival of a frame to the end of its handling. */
  timeFrame(type: FrameFromNode['type'], durationMs: number): void;
  /** Reports how long an offer of this dispatcher to a node was open, until `answer`. */
  timeOffer(answer: OfferAnswer, durationMs: number): void;
}
