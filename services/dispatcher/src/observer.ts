import type { BadFrameCode, FrameFromNode } from '@svc/contracts';
import type { OfferAnswer } from '@svc/domain';

export interface DispatcherObserver {
  countBadFrame(code: BadFrameCode): void;
  /** Reports the time from the arrival of a frame to the end of its handling. */
  timeFrame(type: FrameFromNode['type'], durationMs: number): void;
  /**
   * Reports the time from the sending of an offer to its end. `answer` says how the offer ended.
   */
  timeOffer(answer: OfferAnswer, durationMs: number): void;
}
