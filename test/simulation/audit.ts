import type { Pool } from 'pg';
import type { Model } from './model.ts';
import type { Operation } from './operations.ts';

/**
 * Ends the sessions of a killed worker. Waits up to 5 s for the end of each session. After the end
 * of a session, the effects of its statements are final.
 */
export async function sessionsGone(pool: Pool, name: string): Promise<void> {
  await pool.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1`,
    [name],
  );
}

/**
 * Updates the model after an operation whose outcome is unknown. Reads the rows that the operation
 * would have written.
 */
export async function resolveUnknown(
  pool: Pool,
  model: Model,
  operation: Operation,
): Promise<void> {
  switch (operation.kind) {
    case 'quote':
    case 'look':
      return;
    case 'hold': {
      const { rowCount } = await pool.query('SELECT FROM submissions WHERE id = $1', [
        operation.submissionId,
      ]);
      if (rowCount === 1) model.addSubmission(operation);
      return readStates(pool, model, [operation.submissionId]);
    }
    case 'grant': {
      const { rowCount } = await pool.query('SELECT FROM purchases WHERE reference = $1', [
        operation.reference,
      ]);
      if (rowCount === 1) model.addGrant(operation);
      return;
    }
    case 'payRebate': {
      const { rows } = await pool.query<{ paid: string }>(
        `SELECT COALESCE(sum(amount_micros), 0) AS paid FROM ledger_entries WHERE tenant_id = $1 AND type = 'rebate'`,
        [operation.tenantId],
      );
      const tenant = model.tenants.get(operation.tenantId);
      if (tenant !== undefined) tenant.rebatePaidMicros = BigInt(rows[0]?.paid ?? 0);
      return;
    }
    case 'settle':
      return readStates(pool, model, operation.submissionIds);
    case 'dispatch':
    case 'begin':
    case 'usage':
    case 'complete':
    case 'fail':
    case 'cancel':
    case 'reject':
      return readStates(pool, model, [operation.submissionId]);
  }
}

interface StateRow {
  id: string;
  state: string;
  charged: string | null;
  actions: string | null;
}

async function readStates(pool: Pool, model: Model, ids: readonly string[]): Promise<void> {
  const { rows } = await pool.query<StateRow>(
    'SELECT id, state, charged_micros AS charged, usage_actions AS actions FROM submissions WHERE id = ANY($1::uuid[])',
    [ids],
  );
  for (const { id, state, charged, actions } of rows) {
    model.noteActions(id, Number(actions ?? 0));
    model.note({ submissionId: id, state, chargedMicros: charged });
  }
}

export async function disagreements(pool: Pool, model: Model): Promise<string[]> {
  model.checkEnded();
  const found = [...model.complaints];
  const { rows: accounts } = await pool.query<{
    id: string;
    balance: string;
    held: string;
    rebate: string;
  }>(
    'SELECT tenant_id AS id, balance_micros AS balance, held_micros AS held, rebate_accrued_micros AS rebate FROM credit_accounts',
  );
  for (const account of accounts) {
    const tenant = model.tenants.get(account.id);
    if (tenant === undefined) continue;
    const expected = model.expected(tenant);
    for (const figure of ['balance', 'held', 'rebate'] as const) {
      if (BigInt(account[figure]) === expected[figure]) continue;
      found.push(`${account.id}: ${figure} is ${account[figure]}, but must be ${expected[figure]}`);
    }
  }
  const { rows: submissions } = await pool.query<StateRow>(
    'SELECT id, state, charged_micros AS charged FROM submissions',
  );
  if (submissions.length !== model.submissions.size)
    found.push(
      `there are ${submissions.length} submissions, but there must be ${model.submissions.size}`,
    );
  for (const { id, state } of submissions) {
    const expected = model.submissions.get(id)?.state;
    if (state !== expected)
      found.push(`${id} is ${state} in Postgres, but ${expected} in the model`);
  }
  return found;
}
