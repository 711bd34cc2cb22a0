import type { Store } from '../connection/store.ts';

/** The figures in the answer to a granted hold. */
export interface HeldFigures {
  readonly availableAfterMicros: bigint;
  /** Unix time in milliseconds, by the database's clock. */
  readonly heldAtMs: number;
}

/** Submissions whose hold was sent and not answered. They may or may not be held. */
const unanswered = new WeakSet<object>();

export function markUnanswered(submissions: readonly object[]): void {
  for (const submission of submissions) unanswered.add(submission);
}

/**
 * Returns the outcomes. A `key_taken` becomes `held` if the submission itself has taken the key; it
 * is recognised by its id. A submission that was rejected meanwhile has given its key back.
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
