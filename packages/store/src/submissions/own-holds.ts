import type { Store } from '../connection/store.ts';

/** What the answer to a hold that was granted says. */
export interface HeldFigures {
  readonly availableAfterMicros: bigint;
  /** By the database's clock, Unix time. */
  readonly heldAtMs: number;
}

/** Submissions whose hold was sent and not answered: whether they are held is not known. */
const unanswered = new WeakSet<object>();

export function markUnanswered(submissions: readonly object[]): void {
  for (const submission of submissions) unanswered.add(submission);
}

/**
 * The outcomes, with the lost answer in the place of each key that the submission itself has taken.
 * A submission is recognised by its id. One that was rejected meanwhile has given its key back.
 */
export async function recogniseOwn<Outcome extends { readonly kind: string }>(
  store: Store,
  submissions: readonly { readonly id: string }[],
  outcomes: readonly Outcome[],
): Promise<(Outcome | ({ kind: 'held' } & HeldFigures))[]> {
  const doubtful = submissions.filter(
    (submission, index) => outcomes[index]?.kind === 'key_taken' && unanswered.has(submission),
  );
  if (doubtful.length === 0) return [...outcomes];
  const ids = doubtful.map(({ id }) => id);
  const rows = await store.query<HeldRow>(heldSql, [ids, 'rejected']);
  const own = new Map(rows.map((row) => [row.id, row]));
  return outcomes.map((outcome, index) => {
    const row = own.get(submissions[index]?.id ?? '');
    if (row === undefined) return outcome;
    return {
      kind: 'held',
      availableAfterMicros: BigInt(row.available_after),
      heldAtMs: Number(row.held_at_ms),
    };
  });
}

interface HeldRow {
  id: string;
  available_after: string;
  held_at_ms: string;
}

const heldSql = `
  SELECT id, available_after_micros AS available_after,
    (extract(epoch FROM created_at) * 1000)::bigint AS held_at_ms
  FROM submissions WHERE id = ANY($1::uuid[]) AND state <> $2`;
