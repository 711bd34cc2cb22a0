import { toWireId } from '@svc/domain';
import type { Logger } from '@svc/runtime';
import {
  findExpired,
  purgeExpired,
  reconcileTogether,
  type CandidateCursor,
  type Store,
} from '@svc/store';

export interface PurgeDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly retentionDays: number;
  readonly countPurged: (count: number) => void;
  /** The most submissions in one transaction. */
  readonly pageMax: number;
}

/** The most pages in one pass. Later passes purge the rest of a backlog. */
const pagesMax = 200;

const expired = { reconciler: 'purge', kind: 'expired' } as const;

/**
 * Deletes the personal data of submissions that ended at least `retentionDays` ago (CONTRACT 5).
 * Throws at the end if a purge failed; later passes retry it.
 */
export async function purge({
  store,
  logger,
  retentionDays,
  countPurged,
  pageMax,
}: PurgeDeps): Promise<void> {
  let purged = 0;
  const errors: unknown[] = [];
  let after: CandidateCursor | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const found = await findExpired(store, { retentionDays, after, limit: pageMax });
    after = found.next;
    // Passes may overlap, because `purgeExpired` skips submissions that another pass has locked.
    const done = await reconcileTogether(store, expired, found.candidates, (ids) =>
      purgeExpired(store, ids),
    );
    purged += done.count;
    countPurged(done.count);
    for (const { subjectId, error } of done.failures) {
      const submissionId = toWireId('sub', subjectId);
      logger.warn(
        { err: error, submissionId },
        'could not purge the personal data of a submission',
      );
      errors.push(error);
    }
    if (after === null) break;
  }
  if (purged > 0) logger.info({ purged, retentionDays }, 'personal data purged');
  if (errors.length > 0) {
    throw new AggregateError(errors, `${errors.length} submissions could not be purged`);
  }
}
