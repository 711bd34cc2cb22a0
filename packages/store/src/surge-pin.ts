import type { Store } from './store.ts';

/** The multiplier that an operator has pinned, in millionths; null: it follows the fleet. */
export async function readSurgePin(store: Store): Promise<bigint | null> {
  const [row] = await store.db.$queryRaw<{ pinned_micros: bigint | null }[]>`
    SELECT pinned_micros FROM surge_pin WHERE id = 1`;
  return row?.pinned_micros ?? null;
}
