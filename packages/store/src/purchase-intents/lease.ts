import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';

/** Another watcher took over the lease. A transaction that throws this error writes nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another process watches the Solana payments now');
  }
}

export interface WatcherLease {
  readonly epoch: bigint;
  /** The database's time at which the lease was taken or renewed. */
  readonly at: Date;
}

/**
 * Takes or renews the watcher's lease. Null while another process has it. Each new holder raises
 * `epoch`, which fences the writes of the previous holder.
 */
export async function takeWatcherLease(
  store: Store,
  { holder, leaseMs }: { readonly holder: string; readonly leaseMs: number },
): Promise<WatcherLease | null> {
  // A lease that ends more than 2 × `leaseMs` from now is free. 1 × would be too little, because
  // `svc_now()` is the start of the statement, before it waited for the row.
  const [row] = await store.query<WatcherLease>(
    `UPDATE solana_watcher SET epoch = epoch + (holder IS DISTINCT FROM $1)::int, holder = $1,
       lease_expires_at = svc_now() + $2 * interval '1 millisecond'
     WHERE holder = $1 OR lease_expires_at NOT BETWEEN svc_now() + interval '1 millisecond'
       AND svc_now() + 2 * $2 * interval '1 millisecond'
     RETURNING epoch, svc_now() AS at`,
    [holder, leaseMs],
  );
  return row ?? null;
}

export async function releaseWatcherLease(store: Store, holder: string): Promise<void> {
  await store.query(
    `UPDATE solana_watcher SET lease_expires_at = svc_now(), holder = NULL WHERE holder = $1`,
    [holder],
  );
}

/**
 * Locks the row of the lease until the end of the transaction, so that no other watcher takes over.
 * Throws `LeaseLost` if the lease has another epoch.
 */
export async function holdFence(query: Query, epoch: bigint): Promise<void> {
  const rows = await query('SELECT 1 FROM solana_watcher WHERE epoch = $1 FOR SHARE', [epoch]);
  if (rows.length === 0) throw new LeaseLost();
}

/**
 * Records the state of the watcher. With `rpcAnswered` false, the time of the last answer stays.
 * Writes nothing if another watcher has taken over.
 */
export async function noteWatcherState(
  store: Store,
  epoch: bigint,
  { rpcAnswered, problem }: { readonly rpcAnswered: boolean; readonly problem: string | null },
): Promise<void> {
  await store.query(
    `UPDATE solana_watcher SET polled_at = svc_now(), problem = $3,
       rpc_answered_at = CASE WHEN $2 THEN svc_now() ELSE rpc_answered_at END
     WHERE epoch = $1`,
    [epoch, rpcAnswered, problem],
  );
}
