import { nodeLinkCloseCodes } from '@svc/contracts';

/** How a link ended, as far as it says when to try again. */
export interface LinkEnd {
  /** The code it was closed with; 1006 where it broke or never stood. */
  readonly closeCode: number;
  /** The status that the upgrade was refused with. */
  readonly refusedStatus?: number;
}

const firstDelayMsMax = 500;
const delayMsMax = 15_000;
const handedBackDelayMsMax = 1_000;

/**
 * How long to wait before the next attempt to connect, with jitter (0 to 1), so that the nodes of
 * a dispatcher that died do not all come back at once. `attempt` counts the failures in a row,
 * from 0. Handed back by a draining dispatcher: soon. Refused, or displaced by another process of
 * this node: as late as ever, as only a person can mend that.
 */
export function reconnectDelayMs(end: LinkEnd, attempt: number, jitter: number): number {
  if (end.closeCode === nodeLinkCloseCodes.drain) return jitter * handedBackDelayMsMax;
  const isForPeople =
    end.closeCode === nodeLinkCloseCodes.newerLink ||
    (end.refusedStatus !== undefined && end.refusedStatus < 500);
  if (isForPeople) return delayMsMax * (1 + jitter);
  return jitter * Math.min(delayMsMax, firstDelayMsMax * 2 ** Math.min(attempt, 10));
}
