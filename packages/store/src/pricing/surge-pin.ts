import { appendAudit, type Author } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';

/** The surge multiplier that an operator pinned, in millionths. Null if none is pinned. */
export async function readSurgePin(store: Store): Promise<bigint | null> {
  const [row] = await store.query<PinRow>(pinSql, []);
  return row?.pinned_micros ?? null;
}

interface PinRow {
  readonly pinned_micros: bigint | null;
}

const pinSql = 'SELECT pinned_micros FROM surge_pin WHERE id = 1';

/** Pins the surge multiplier. Null removes the pin, and surge follows the fleet again. */
export async function pinSurge(
  store: Store,
  pinnedMicros: bigint | null,
  by: Author,
): Promise<void> {
  await store.transaction(async (query) => {
    await query(
      'INSERT INTO surge_pin (id, changed_at) VALUES (1, svc_now()) ON CONFLICT DO NOTHING',
      [],
    );
    const [before] = await query<PinRow>(`${pinSql} FOR UPDATE`, []);
    await query('UPDATE surge_pin SET pinned_micros = $1, changed_at = svc_now() WHERE id = 1', [
      pinnedMicros,
    ]);
    await appendAudit(query, by, {
      action: pinnedMicros === null ? 'surge.auto' : 'surge.pin',
      subject: { kind: 'service', id: 'surge' },
      before: { pinned: multiplierOf(before?.pinned_micros ?? null) },
      after: { pinned: multiplierOf(pinnedMicros) },
    });
  });
}

function multiplierOf(micros: bigint | null): number | null {
  return micros === null ? null : Number(micros) / 1e6;
}
