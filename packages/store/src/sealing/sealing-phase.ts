import type { SealingPhase, Store } from '../connection/store.ts';
import { environmentPlace } from './sealed.ts';

/**
 * Phase `previous`: values are sealed for their row only. `resealing`: new ones for their complete
 * place. `bound`: values sealed for their row only are refused.
 */

/** The first byte of a value that is sealed for its row only. */
export const previousVersion = 1;

export interface SealedEnvironment {
  readonly name: string;
  readonly sealed: Uint8Array;
  readonly resealStartedAt: Date | null;
}

/** Reads the environment row. Null if no service has written it yet. */
export async function readEnvironment({ query }: Store): Promise<SealedEnvironment | null> {
  const [row] = await query<SealedEnvironment>(
    `SELECT name, request_hash_key_sealed AS sealed, reseal_started_at AS "resealStartedAt"
     FROM environment WHERE id = 1`,
    [],
  );
  return row ?? null;
}

/**
 * `sealed` is the key of request hashes, which `endReseal` reseals last. If `sealed` does not begin
 * with `previousVersion`, no value does: the phase is `bound`.
 */
export function phaseOf({ sealed, resealStartedAt }: SealedEnvironment): SealingPhase {
  if (sealed[0] !== previousVersion) return 'bound';
  return resealStartedAt === null ? 'previous' : 'resealing';
}

const phaseIntervalMs = 1_000;

/**
 * Reads the phase every second and sets it in `store.sealer`, until it is `bound`. Returns a
 * function that stops this.
 */
export function followPhase(store: Store): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const row = await readEnvironment(store).catch(() => null);
    if (row !== null) store.sealer.phase = phaseOf(row);
    if (timer !== undefined) next();
  };
  const next = (): void => {
    if (store.sealer.phase === 'bound') return;
    timer = setTimeout(() => void look(), phaseIntervalMs);
    timer.unref();
  };
  next();
  return () => {
    clearTimeout(timer);
    timer = undefined;
  };
}

/**
 * The longest time from the start of a reseal until each service has read the new phase and
 * committed its earlier writes.
 */
const previousWritesMsMax = 30_000;

/**
 * Begins the phase `resealing` if the phase is `previous`. Returns for how many milliseconds
 * services can still commit values of `previous`: 0 in `bound`.
 */
export async function beginReseal(store: Store): Promise<number> {
  const [row] = await store.query<{ remainingMs: number }>(
    `UPDATE environment SET reseal_started_at = COALESCE(reseal_started_at, svc_now()) WHERE id = 1
     RETURNING GREATEST(0, $1 - extract(epoch FROM svc_now() - reseal_started_at) * 1000)::float8
       AS "remainingMs"`,
    [previousWritesMsMax],
  );
  const environment = await readEnvironment(store);
  if (environment === null || row === undefined) return 0;
  store.sealer.phase = phaseOf(environment);
  return store.sealer.phase === 'bound' ? 0 : row.remainingMs;
}

/**
 * Begins the phase `bound` by resealing the key of request hashes. Call this only after a pass over
 * all other sealed values has found nothing to reseal.
 */
export async function endReseal(store: Store): Promise<void> {
  const row = await readEnvironment(store);
  if (row === null || phaseOf(row) === 'bound') return;
  const place = environmentPlace(row.name);
  const sealed = store.sealer.seal(place, store.sealer.unseal(place, row.sealed));
  await store.query(
    `UPDATE environment SET request_hash_key_sealed = $1
     WHERE id = 1 AND request_hash_key_sealed = $2`,
    [sealed, row.sealed],
  );
  store.sealer.phase = 'bound';
}
