import type { Logger } from '@svc/runtime';
import { purgeExpired, purgePageMax, type Store } from '@svc/store';

export interface PurgeDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly retentionDays: number;
  readonly countPurged: (count: number) => void;
  /** Submissions of one transaction. */
  readonly pageMax?: number;
}

/** What a round does at most: a backlog is worked off over rounds, beside everything else. */
const pagesMax = 200;

/**
 * One round of deleting personal data whose time is over (`PAYLOAD_RETENTION_DAYS`), a page a
 * transaction. It takes no input: what a round leaves is the next one's, and several workers take
 * different pages.
 */
export async function purge({
  store,
  logger,
  retentionDays,
  countPurged,
  pageMax = purgePageMax,
}: PurgeDeps): Promise<void> {
  let purged = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const count = await purgeExpired(store, { retentionDays, limit: pageMax });
    purged += count;
    countPurged(count);
    if (count < pageMax) break;
  }
  if (purged > 0) logger.info({ purged, retentionDays }, 'personal data purged');
}
