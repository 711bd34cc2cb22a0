import type { Pool } from 'pg';
import type { LineRecord } from './history.ts';
import type { Recorder } from './recorder.ts';

/** Translates the UUIDs of a row to the names that the rest of the history uses. */
export interface Names {
  readonly tenant: (id: string) => string;
  readonly submission: (id: string) => string;
  readonly line: (id: string) => string;
}

interface EntryRow {
  sequence: string;
  id: string;
  tenant_id: string;
  type: string;
  amount: string;
  balance: string;
  held: string;
  submission_id: string | null;
  reference: string | null;
}

const rowsPerQuery = 20_000;

/**
 * Records the rows of each tenant in the order of the ledger, because the checker tests this order.
 */
export async function recordLedger(recorder: Recorder, pool: Pool, names: Names): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('SELECT tenant_id AS id FROM credit_accounts');
  for (const { id } of rows) await recordAccount(recorder, pool, names, id);
}

async function recordAccount(
  recorder: Recorder,
  pool: Pool,
  names: Names,
  tenantId: string,
): Promise<void> {
  let after = '-1';
  for (;;) {
    const { rows } = await pool.query<EntryRow>(
      `SELECT sequence, id, tenant_id, type, amount_micros AS amount, balance_after_micros AS balance,
        held_after_micros AS held, submission_id, reference
      FROM ledger_entries WHERE tenant_id = $1 AND sequence > $2 ORDER BY sequence LIMIT ${rowsPerQuery}`,
      [tenantId, after],
    );
    for (const row of rows) recorder.add(lineOf(row, names));
    after = rows.at(-1)?.sequence ?? after;
    if (rows.length < rowsPerQuery) return;
  }
}

function lineOf(row: EntryRow, names: Names): LineRecord {
  return {
    kind: 'line',
    tenant: names.tenant(row.tenant_id),
    id: names.line(row.id),
    type: row.type,
    amountMicros: BigInt(row.amount),
    balanceAfterMicros: BigInt(row.balance),
    heldAfterMicros: BigInt(row.held),
    submissionId: row.submission_id === null ? null : names.submission(row.submission_id),
    reference: row.reference,
  };
}
