import { nodeLinkCloseCodes } from '@svc/contracts';

export interface LinkEnd {
  /** The close code; 1006 if the link broke or was never open. */
  readonly closeCode: number;
  /**
   * The HTTP status with which the service refused the upgrade to a WebSocket. Undefined if it did
   * not refuse the upgrade.
   */
  readonly refusedStatus?: number;
}

const firstDelayMsMax = 500;
const delayMsMax = 15_000;
const handedBackDelayMsMax = 1_000;

/**
 * The delay in ms before the next attempt to connect. `attempt` counts consecutive failures, from
 * 0. `jitter` (0 to 1) spreads the attempts of many nodes.
 */
export function reconnectDelayMs(end: LinkEnd, attempt: number, jitter: number): number {
  if (end.closeCode === nodeLinkCloseCodes.drain) return jitter * handedBackDelayMsMax;
  const needsPerson =
    end.closeCode === nodeLinkCloseCodes.newerLink ||
    (end.refusedStatus !== undefined && end.refusedStatus < 500);
  if (needsPerson) return delayMsMax * (1 + jitter);
  return jitter * Math.min(delayMsMax, firstDelayMsMax * 2 ** Math.min(attempt, 10));
}
