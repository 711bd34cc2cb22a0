import { type Author, insertAudit } from '../audit-log/audit.ts';
import type { Store } from '../connection/store.ts';

/** The surge multiplier that an operator pinned, in millionths. Null if none is pinned. */
export async function readSurgePin(store: Store): Promise<bigint | null> {
  const [row] = await store.db.$queryRaw<{ pinned_micros: bigint | null }[]>`
    SELECT pinned_micros FROM surge_pin WHERE id = 1`;
  return row?.pinned_micros ?? null;
}

/** Pins the multiplier. With null it follows the fleet again. */
export async function pinSurge(
  store: Store,
  pinnedMicros: bigint | null,
  by: Author,
): Promise<void> {
  await store.db.$transaction(async (tx) => {
    await tx.$executeRaw`
      INSERT INTO surge_pin (id, changed_at) VALUES (1, svc_now()) ON CONFLICT DO NOTHING`;
    const [before] = await tx.$queryRaw<{ pinned_micros: bigint | null }[]>`
      SELECT pinned_micros FROM surge_pin WHERE id = 1 FOR UPDATE`;
    await tx.$executeRaw`
      UPDATE surge_pin SET pinned_micros = ${pinnedMicros}, changed_at = svc_now() WHERE id = 1`;
    await insertAudit(tx, by, {
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
