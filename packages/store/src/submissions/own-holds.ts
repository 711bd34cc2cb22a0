import { transitions } from '@svc/domain';
import { statement } from '../connection/statement.ts';
import type { Store } from '../connection/store.ts';

export interface HeldFigures {
  readonly availableAfterMicros: bigint;
  /** Unix time in milliseconds, by the database's clock. */
  readonly heldAtMs: number;
}

/**
 * Corrects the outcomes of a repeated batch. A refused hold becomes `held` if the earlier run
 * committed the hold and the submission has not been rejected since.
 */
export async function recogniseOwn<Outcome extends { readonly kind: string }>(
  store: Store,
  submissions: readonly { readonly id: string }[],
  outcomes: readonly Outcome[],
): Promise<(Outcome | ({ kind: 'held' } & HeldFigures))[]> {
  const doubtful = submissions.filter((_, index) => isDoubtful(outcomes[index]?.kind));
  if (doubtful.length === 0) return [...outcomes];
  const rows = await findHeld<HeldRow>(store.query, {
    id: doubtful.map(({ id }) => id),
    rejected: transitions.reject.to,
  });
  const own = new Map(rows.map((row) => [row.id, row]));
  return outcomes.map((outcome, index) => {
    const row = own.get(submissions[index]?.id ?? '');
    if (row === undefined) return outcome;
    return { kind: 'held', availableAfterMicros: row.available_after, heldAtMs: row.held_at_ms };
  });
}

function isDoubtful(kind: string | undefined): boolean {
  return kind !== 'held';
}

interface HeldRow {
  id: string;
  available_after: bigint;
  held_at_ms: number;
}

const findHeld = statement(
  { id: 'uuid[]', rejected: 'text' },
  `
  SELECT id, available_after_micros AS available_after,
    round(extract(epoch FROM created_at) * 1000)::float8 AS held_at_ms
  FROM submissions WHERE id = ANY($id) AND state <> $rejected`,
);
