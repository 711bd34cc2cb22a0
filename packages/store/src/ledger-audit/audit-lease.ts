import { ledgerAuditIntervalMs } from '@svc/domain';
import type { Query } from '../connection/query.ts';
import type { Store } from '../connection/store.ts';
import { type AuditState, openState, sealState, type StateRow } from './audit-state.ts';
import { type SealedCheckpoint, writeCheckpoints } from './checkpoints.ts';

/**
 * The duration of the lease. Each step of the audit renews the lease. A step usually takes far less
 * than this time.
 */
const leaseMs = 60_000;
const errorLengthMax = 300;

/**
 * Another process has taken the lease or replaced the state of the audit. `writeStep` writes
 * nothing if it throws this error.
 */
export class AuditLeaseLost extends Error {
  override readonly name = 'AuditLeaseLost';

  constructor() {
    super('another process audits the ledger, or has replaced the state of the audit');
  }
}

/**
 * The right to audit. `state` is the state that the last step of this lease wrote. Before the first
 * step, `state` is the state that was read with the lease.
 */
export interface AuditLease {
  readonly epoch: bigint;
  state: AuditState;
  /**
   * The database's time of the last step of this lease. Before the first step, the time at which
   * the lease was taken.
   */
  at: Date;
}

const stateColumns = `step, state_sealed, svc_now() AS now,
  EXISTS (SELECT FROM ledger_checkpoints) AS has_checkpoints`;

/**
 * Takes the audit lease, which only one process has at a time. Returns null while a process has the
 * lease, or if the row of `ledger_audit` is missing.
 */
export async function takeAuditLease(
  store: Store,
  options: {
    readonly holder: string;
    /** True: takes the lease only if an audit is due, and otherwise returns null. */
    readonly isDueOnly: boolean;
    readonly notedStep: bigint | null;
  },
): Promise<AuditLease | null> {
  // A time more than 2 × its length ahead is forged, and ignored. 1 × would be too little, because
  // `svc_now()` is the start of the statement, before it waited for the row.
  const [row] = await store.query<StateRow & { epoch: bigint }>(
    `UPDATE ledger_audit SET epoch = epoch + 1, holder = $1,
       lease_expires_at = svc_now() + $2 * interval '1 millisecond'
     WHERE id = 1
       AND lease_expires_at NOT BETWEEN svc_now() + interval '1 millisecond' AND svc_now() + 2 * $2 * interval '1 millisecond'
       AND (NOT $3::boolean OR due_at NOT BETWEEN svc_now() + interval '1 millisecond' AND svc_now() + 2 * $4 * interval '1 millisecond')
     RETURNING epoch, ${stateColumns}`,
    [options.holder, leaseMs, options.isDueOnly, ledgerAuditIntervalMs],
  );
  if (row === undefined) return null;
  try {
    const state = openState(store.sealer, row, options.notedStep);
    return { epoch: row.epoch, state, at: row.now };
  } catch (error) {
    // Without the master key of the state, this process must not keep others from auditing.
    await store.query(
      `UPDATE ledger_audit SET holder = NULL, lease_expires_at = svc_now()
       WHERE id = 1 AND epoch = $1`,
      [row.epoch],
    );
    throw error;
  }
}

/**
 * Writes `checkpoints`, and the state that `next` returns, in one transaction. Also renews the
 * lease. Throws `AuditLeaseLost` if the lease is lost.
 */
export function writeStep(
  store: Store,
  lease: AuditLease,
  next: (state: AuditState, now: Date) => AuditState,
  checkpoints: readonly SealedCheckpoint[] = [],
): Promise<void> {
  return store.transaction(async (query) => {
    const [locked] = await query<{ now: Date; step: bigint }>(
      'SELECT step, svc_now() AS now FROM ledger_audit WHERE id = 1 AND epoch = $1 FOR UPDATE',
      [lease.epoch],
    );
    if (locked === undefined) throw new AuditLeaseLost();
    const { step, now } = locked;
    // If the stored step is higher than `lease.state.step`, another writer has changed the row.
    // If the stored step is lower, it is forged, and the update below overwrites it.
    if (step > lease.state.step) throw new AuditLeaseLost();
    const state = { ...next(lease.state, now), step: lease.state.step + 1n };
    await query(
      `UPDATE ledger_audit SET step = $2, state_sealed = $3,
         lease_expires_at = svc_now() + $4 * interval '1 millisecond'
       WHERE id = 1 AND epoch = $1`,
      [lease.epoch, state.step, sealState(store.sealer, state), leaseMs],
    );
    await writeCheckpoints(query, checkpoints);
    lease.state = state;
    lease.at = now;
  });
}

/** Throws `AuditLeaseLost` and writes nothing if another process has taken the lease. */
export async function endAudit({ query }: Store, { epoch }: AuditLease): Promise<void> {
  const ended = await query(
    `UPDATE ledger_audit SET holder = NULL, lease_expires_at = svc_now(), failed_at = NULL, error = NULL,
       due_at = svc_now() + $2 * interval '1 millisecond'
     WHERE id = 1 AND epoch = $1 RETURNING 1`,
    [epoch, ledgerAuditIntervalMs],
  );
  if (ended.length === 0) throw new AuditLeaseLost();
}

export async function noteAuditFailure(
  { query }: Store,
  { epoch }: AuditLease,
  error: unknown,
): Promise<void> {
  const text = error instanceof Error ? error.message : String(error);
  await query(
    `UPDATE ledger_audit SET holder = NULL, lease_expires_at = svc_now(), failed_at = svc_now(), error = $2,
       due_at = svc_now()
     WHERE id = 1 AND epoch = $1`,
    [epoch, text.slice(0, errorLengthMax)],
  );
}

export interface ReadState {
  readonly state: AuditState;
  readonly failedAt: Date | null;
  readonly error: string | null;
}

/** Reads the state. Null if the row of `ledger_audit` is missing. */
export async function readState(
  query: Query,
  { sealer }: Store,
  notedStep: bigint | null,
): Promise<ReadState | null> {
  const [row] = await query<StateRow & { failed_at: Date | null; error: string | null }>(
    `SELECT failed_at, error, ${stateColumns} FROM ledger_audit WHERE id = 1`,
    [],
  );
  if (row === undefined) return null;
  const { failed_at: failedAt, error } = row;
  return { state: openState(sealer, row, notedStep), failedAt, error };
}

/**
 * Replaces the state with the one that `next` returns. Returns the database's time, or throws if
 * the row of `ledger_audit` is missing.
 */
export function replaceState(
  store: Store,
  next: (state: AuditState, now: Date) => AuditState,
): Promise<Date> {
  return store.transaction(async (query) => {
    const [row] = await query<StateRow>(
      `SELECT ${stateColumns} FROM ledger_audit WHERE id = 1 FOR UPDATE`,
      [],
    );
    if (row === undefined) throw new Error('the row of ledger_audit is missing');
    const before = openState(store.sealer, row, null);
    const state = { ...next(before, row.now), step: before.step + 1n };
    // The higher epoch takes the lease from a process that is auditing at this moment.
    await query(
      `UPDATE ledger_audit SET epoch = epoch + 1, step = $1, state_sealed = $2, holder = NULL,
         lease_expires_at = svc_now(), failed_at = NULL, error = NULL
       WHERE id = 1`,
      [state.step, sealState(store.sealer, state)],
    );
    return row.now;
  });
}
