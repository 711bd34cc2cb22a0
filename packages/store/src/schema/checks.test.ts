import { submissionStates } from '@svc/domain';
import { createTestDatabase, type TestDatabase } from '@svc/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Tests each CHECK in `cases` alone, with rows that it accepts and rows that it refuses. Each
 * condition of a CHECK has a row that is refused. A row names only the columns that the CHECK
 * reads.
 */

type Row = Record<string, string | number | boolean | null>;

interface CheckCase {
  readonly table: string;
  readonly check: string;
  readonly accepts: readonly Row[];
  readonly refuses: readonly Row[];
  /**
   * True if the migration did not validate the CHECK, because all rows had null in its new column.
   */
  readonly isUnvalidated?: boolean;
}

const at = '2026-11-20T00:00:00Z';
const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const states = [...submissionStates];
const amountBound = 1_000_000_000_000_000;

function statesWith(row: Row, ...named: string[]): Row[] {
  return named.map((state) => ({ ...row, state }));
}

function statesWithout(row: Row, ...named: string[]): Row[] {
  return statesWith(row, ...states.filter((state) => !named.includes(state)));
}

const noOutcome = { outcome_kind: null, outcome_at: null, outcome_by: null, failure_code: null };
const completed = { ...noOutcome, outcome_kind: 'completed', outcome_at: at, outcome_by: 'node' };
const failed = { ...completed, outcome_kind: 'failed', failure_code: 'captcha' };
const assigned = {
  node_id: id,
  dispatched_at: at,
  start_deadline_at: at,
  run_deadline_at: at,
};
const account = {
  balance_micros: 0,
  rebate_accrued_micros: 0,
  low_balance_threshold_micros: 0,
};

const amounts = { amount_usdc_micros: 5, usd_per_credit_micros: 1, paid_usdc_micros: 0 };
const paid = {
  status: 'confirmed',
  transaction_signature: 's',
  confirmed_at: at,
  amount_usdc_micros: 5,
  paid_usdc_micros: 5,
};
const unpaid = { ...paid, status: 'pending', transaction_signature: null, confirmed_at: null };
const asked = { status: 'failed', asked_at: at, asked_again_at: at, closed_at: at };
const hour = (number: number) => `2026-11-20T0${number}:00:00Z`;
const intentTimes = {
  created_at: hour(1),
  ask_at: hour(2),
  expires_at: hour(3),
  ask_again_at: hour(4),
  grace_ends_at: hour(5),
};

const cases: readonly CheckCase[] = [
  {
    table: 'environment',
    check: 'environment_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
  {
    table: 'environment',
    check: 'environment_name',
    accepts: [{ name: 'sandbox' }, { name: 'production' }],
    refuses: [{ name: 'staging' }],
  },
  {
    table: 'tenants',
    check: 'tenants_name_length',
    accepts: [{ name: 'a' }, { name: 'a'.repeat(128) }],
    refuses: [{ name: '' }, { name: 'a'.repeat(129) }],
  },
  {
    table: 'tenants',
    check: 'tenants_rate_limit',
    accepts: [{ rate_limit_per_second: 1, rate_limit_burst: 1 }],
    refuses: [
      { rate_limit_per_second: 0, rate_limit_burst: 1 },
      { rate_limit_per_second: 1, rate_limit_burst: 0 },
    ],
  },
  {
    table: 'tenants',
    check: 'tenants_rebate',
    accepts: [{ rebate_millionths: 0 }, { rebate_millionths: 1_000_000 }],
    refuses: [{ rebate_millionths: -1 }, { rebate_millionths: 1_000_001 }],
  },
  {
    table: 'tenants',
    check: 'tenants_webhook_disabled',
    accepts: [
      { webhook_disabled_at: null, webhook_disabled_reason: null },
      { webhook_disabled_at: at, webhook_disabled_reason: 'gone' },
    ],
    refuses: [
      { webhook_disabled_at: at, webhook_disabled_reason: null },
      { webhook_disabled_at: null, webhook_disabled_reason: 'gone' },
    ],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_kind',
    accepts: [{ kind: 'hmac' }, { kind: 'webhook' }, { kind: 'key' }],
    refuses: [{ kind: 'node' }],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_scopes',
    accepts: [
      { kind: 'hmac', scopes: null },
      { kind: 'key', scopes: '{read}' },
      { kind: 'key', scopes: '{read,spend,settings}' },
    ],
    refuses: [
      { kind: 'hmac', scopes: '{read}' },
      { kind: 'key', scopes: null },
      { kind: 'key', scopes: '{}' },
      { kind: 'key', scopes: '{read,admin}' },
    ],
  },
  {
    table: 'tenant_secrets',
    check: 'tenant_secrets_addresses',
    accepts: [
      { kind: 'hmac', addresses: null },
      { kind: 'key', addresses: '{}' },
      { kind: 'key', addresses: `{${Array.from({ length: 20 }, () => '192.0.2.0/24').join()}}` },
    ],
    refuses: [
      { kind: 'webhook', addresses: '{}' },
      { kind: 'key', addresses: null },
      { kind: 'key', addresses: '{NULL}' },
      { kind: 'key', addresses: `{${Array.from({ length: 21 }, () => '192.0.2.0/24').join()}}` },
    ],
  },
  {
    table: 'credit_accounts',
    check: 'credit_accounts_no_overdraft',
    accepts: [
      { held_micros: 0, balance_micros: 0 },
      { held_micros: 2, balance_micros: 2 },
    ],
    refuses: [
      { held_micros: -1, balance_micros: 0 },
      { held_micros: 2, balance_micros: 1 },
    ],
  },
  {
    table: 'credit_accounts',
    check: 'credit_accounts_bounds',
    accepts: [
      account,
      {
        balance_micros: amountBound - 1,
        rebate_accrued_micros: amountBound - 1,
        low_balance_threshold_micros: amountBound - 1,
      },
    ],
    refuses: [
      { ...account, balance_micros: amountBound },
      { ...account, rebate_accrued_micros: -1 },
      { ...account, rebate_accrued_micros: amountBound },
      { ...account, low_balance_threshold_micros: -1 },
      { ...account, low_balance_threshold_micros: amountBound },
    ],
  },
  {
    table: 'credit_accounts',
    check: 'credit_accounts_in_flight',
    accepts: [{ in_flight: 0, in_flight_max: 1 }],
    refuses: [
      { in_flight: -1, in_flight_max: 1 },
      { in_flight: 0, in_flight_max: 0 },
    ],
  },
  {
    table: 'ledger_entries',
    check: 'ledger_entries_amount',
    accepts: [{ amount_micros: 1 }],
    refuses: [{ amount_micros: 0 }],
  },
  {
    table: 'ledger_entries',
    check: 'ledger_entries_figures',
    accepts: [
      { held_after_micros: 0, balance_after_micros: 0 },
      { held_after_micros: 1, balance_after_micros: 1 },
    ],
    refuses: [
      { held_after_micros: -1, balance_after_micros: 0 },
      { held_after_micros: 2, balance_after_micros: 1 },
    ],
  },
  {
    table: 'ledger_entries',
    check: 'ledger_entries_movement',
    accepts: [
      { type: 'grant', debit_account: 'issuance', credit_account: 'tenant_available' },
      { type: 'hold', debit_account: 'tenant_available', credit_account: 'tenant_held' },
      { type: 'charge', debit_account: 'tenant_held', credit_account: 'revenue' },
      { type: 'release', debit_account: 'tenant_held', credit_account: 'tenant_available' },
      { type: 'rebate_accrual', debit_account: 'revenue', credit_account: 'rebate' },
      { type: 'rebate', debit_account: 'rebate', credit_account: 'tenant_available' },
      { type: 'reversal', debit_account: 'tenant_available', credit_account: 'issuance' },
    ],
    refuses: [
      { type: 'hold', debit_account: 'tenant_held', credit_account: 'tenant_available' },
      { type: 'charge', debit_account: 'tenant_available', credit_account: 'revenue' },
    ],
  },
  {
    table: 'ledger_entries',
    check: 'ledger_entries_subject',
    accepts: [
      { submission_id: id, type: 'hold' },
      { submission_id: id, type: 'charge' },
      { submission_id: id, type: 'release' },
      { submission_id: id, type: 'rebate_accrual' },
      { submission_id: null, type: 'grant' },
    ],
    refuses: [
      { submission_id: null, type: 'charge' },
      { submission_id: id, type: 'grant' },
    ],
  },
  {
    table: 'purchases',
    check: 'purchases_amount',
    accepts: [
      { credits_micros: 1, usd_micros: null },
      { credits_micros: 1, usd_micros: 0 },
    ],
    refuses: [
      { credits_micros: 0, usd_micros: null },
      { credits_micros: 1, usd_micros: -1 },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_status',
    accepts: ['pending', 'confirmed', 'expired', 'failed'].map((status) => ({ status })),
    refuses: [{ status: 'paid' }],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_amount',
    accepts: [{ credits_micros: 1, amount_usdc_micros: 1 }],
    refuses: [
      { credits_micros: 0, amount_usdc_micros: 1 },
      { credits_micros: 1, amount_usdc_micros: 0 },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_limits',
    accepts: [amounts, { ...amounts, amount_usdc_micros: 1_000_000_000_000 }],
    refuses: [
      { ...amounts, amount_usdc_micros: 1_000_000_000_001 },
      { ...amounts, usd_per_credit_micros: 0 },
      { ...amounts, paid_usdc_micros: -1 },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_confirmed',
    accepts: [paid, { ...paid, paid_usdc_micros: 6 }, unpaid],
    refuses: [
      { ...paid, transaction_signature: null },
      { ...paid, confirmed_at: null },
      { ...paid, paid_usdc_micros: 4 },
      { ...unpaid, transaction_signature: 's' },
      { ...unpaid, confirmed_at: at },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_closed',
    accepts: [
      { status: 'pending', closed_at: null },
      { status: 'expired', closed_at: null },
      { status: 'expired', closed_at: at },
      { status: 'confirmed', closed_at: at },
      { status: 'failed', closed_at: at },
    ],
    refuses: [
      { status: 'pending', closed_at: at },
      { status: 'confirmed', closed_at: null },
      { status: 'failed', closed_at: null },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_failed_was_paid',
    accepts: [
      { status: 'failed', paid_usdc_micros: 1 },
      { status: 'expired', paid_usdc_micros: 0 },
    ],
    refuses: [{ status: 'failed', paid_usdc_micros: 0 }],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_asked',
    accepts: [
      asked,
      { status: 'pending', asked_at: null, asked_again_at: null, closed_at: null },
      { status: 'confirmed', asked_at: null, asked_again_at: null, closed_at: at },
      { status: 'expired', asked_at: at, asked_again_at: null, closed_at: null },
    ],
    refuses: [
      { ...asked, asked_at: null },
      { ...asked, asked_again_at: null },
      { status: 'expired', asked_at: null, asked_again_at: null, closed_at: null },
    ],
  },
  {
    table: 'purchase_intents',
    check: 'purchase_intents_times',
    accepts: [intentTimes],
    refuses: [
      { ...intentTimes, created_at: hour(3) },
      { ...intentTimes, grace_ends_at: hour(3) },
      { ...intentTimes, ask_at: hour(0) },
      { ...intentTimes, ask_at: hour(4) },
      { ...intentTimes, ask_again_at: hour(2) },
      { ...intentTimes, ask_again_at: hour(6) },
    ],
  },
  {
    table: 'solana_payments',
    check: 'solana_payments_amount',
    accepts: [{ amount_usdc_micros: 1, slot: 0 }],
    refuses: [
      { amount_usdc_micros: 0, slot: 0 },
      { amount_usdc_micros: 1, slot: -1 },
    ],
  },
  {
    table: 'solana_cursors',
    check: 'solana_cursors_slots',
    accepts: [
      { floor_slot: 0, slot: 0 },
      { floor_slot: 1, slot: 2 },
    ],
    refuses: [
      { floor_slot: -1, slot: 0 },
      { floor_slot: 2, slot: 1 },
    ],
  },
  {
    table: 'solana_watcher',
    check: 'solana_watcher_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
  {
    table: 'submissions',
    check: 'submissions_state',
    accepts: statesWith({}, ...states),
    refuses: [{ state: 'lost' }],
  },
  {
    table: 'submissions',
    check: 'submissions_tier',
    accepts: ['standard', 'priority', 'instant'].map((tier) => ({ tier })),
    refuses: [{ tier: 'fast' }],
  },
  {
    table: 'submissions',
    check: 'submissions_key_length',
    accepts: [{ idempotency_key: 'k' }, { idempotency_key: 'k'.repeat(128) }],
    refuses: [{ idempotency_key: '' }, { idempotency_key: 'k'.repeat(129) }],
  },
  {
    table: 'submissions',
    check: 'submissions_quote',
    accepts: [
      { quote_max_micros: 0, quote_estimated_micros: 0 },
      { quote_max_micros: 2, quote_estimated_micros: 2 },
    ],
    refuses: [
      { quote_max_micros: -1, quote_estimated_micros: null },
      { quote_max_micros: 1, quote_estimated_micros: 2 },
      { quote_max_micros: 1, quote_estimated_micros: -1 },
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_charge_within_hold',
    accepts: [
      { charged_micros: 0, quote_max_micros: 1 },
      { charged_micros: 1, quote_max_micros: 1 },
      { charged_micros: null, quote_max_micros: 1 },
    ],
    refuses: [
      { charged_micros: -1, quote_max_micros: 1 },
      { charged_micros: 2, quote_max_micros: 1 },
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_charged_when_ended',
    accepts: [
      ...statesWith({ charged_micros: 0 }, 'submitted', 'failed', 'cancelled'),
      ...statesWithout({ charged_micros: null }, 'submitted', 'failed', 'cancelled'),
    ],
    refuses: [
      ...statesWith({ charged_micros: null }, 'submitted', 'failed', 'cancelled'),
      ...statesWithout({ charged_micros: 0 }, 'submitted', 'failed', 'cancelled'),
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_finished_when_ended',
    accepts: [
      ...statesWith({ finished_at: at }, 'submitted', 'failed', 'cancelled', 'rejected'),
      ...statesWithout({ finished_at: null }, 'submitted', 'failed', 'cancelled', 'rejected'),
    ],
    refuses: [
      ...statesWith({ finished_at: null }, 'submitted', 'failed', 'cancelled', 'rejected'),
      ...statesWithout({ finished_at: at }, 'submitted', 'failed', 'cancelled', 'rejected'),
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_assigned',
    accepts: [
      ...statesWith({}, 'pending', 'rejected', 'cancelled'),
      ...statesWith(assigned, ...states),
    ],
    refuses: Object.keys(assigned).flatMap((column) =>
      statesWithout({ ...assigned, [column]: null }, 'pending', 'rejected', 'cancelled'),
    ),
  },
  {
    table: 'submissions',
    check: 'submissions_unassigned',
    accepts: [
      ...statesWith({ node_id: null }, ...states),
      ...statesWithout({ node_id: id }, 'pending', 'rejected'),
    ],
    refuses: statesWith({ node_id: id }, 'pending', 'rejected'),
  },
  {
    table: 'submissions',
    check: 'submissions_begun',
    accepts: [
      { state: 'running', started_at: at, lease_expires_at: at },
      ...statesWithout({ started_at: null, lease_expires_at: null }, 'running'),
    ],
    refuses: [
      { state: 'running', started_at: null, lease_expires_at: at },
      { state: 'running', started_at: at, lease_expires_at: null },
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_outcome',
    accepts: [
      ...statesWithout(noOutcome, 'settling', 'submitted', 'failed'),
      ...statesWith(completed, 'settling', 'submitted', 'failed'),
      ...statesWith(failed, 'settling', 'submitted', 'failed'),
      { ...failed, outcome_by: 'service', state: 'settling' },
    ],
    refuses: [
      { ...noOutcome, outcome_at: at, state: 'running' },
      { ...noOutcome, outcome_by: 'node', state: 'running' },
      { ...noOutcome, failure_code: 'captcha', state: 'running' },
      { ...completed, outcome_at: null, state: 'settling' },
      { ...completed, outcome_by: null, state: 'settling' },
      { ...completed, outcome_kind: 'stopped', state: 'settling' },
      { ...completed, outcome_by: 'tenant', state: 'settling' },
      { ...completed, failure_code: 'captcha', state: 'settling' },
      { ...failed, failure_code: null, state: 'settling' },
      ...statesWithout(completed, 'settling', 'submitted', 'failed'),
      ...statesWith(noOutcome, 'settling', 'submitted', 'failed'),
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_stated_retriable',
    isUnvalidated: true,
    accepts: [
      { ...noOutcome, stated_retriable: null },
      { ...failed, stated_retriable: null },
      { ...failed, failure_code: 'node_error', stated_retriable: true },
      { ...failed, failure_code: 'site_unreachable', stated_retriable: false },
    ],
    refuses: [
      { ...noOutcome, stated_retriable: true },
      { ...noOutcome, stated_retriable: false },
      { ...failed, failure_code: 'node_error', stated_retriable: false },
      { ...failed, failure_code: 'site_unreachable', stated_retriable: true },
      { ...failed, failure_code: 'captcha', stated_retriable: true },
      { ...failed, outcome_by: 'service', failure_code: 'node_error', stated_retriable: true },
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_completed_was_begun',
    accepts: [
      { outcome_kind: 'completed', started_at: at },
      { outcome_kind: 'failed', started_at: null },
      { outcome_kind: null, started_at: null },
    ],
    refuses: [{ outcome_kind: 'completed', started_at: null }],
  },
  {
    table: 'submissions',
    check: 'submissions_cancelled_by',
    accepts: [
      { state: 'cancelled', cancelled_by: 'tenant' },
      { state: 'cancelled', cancelled_by: 'operator' },
      ...statesWithout({ cancelled_by: null }, 'cancelled'),
    ],
    refuses: [
      { state: 'cancelled', cancelled_by: null },
      { state: 'cancelled', cancelled_by: 'node' },
      ...statesWithout({ cancelled_by: 'tenant' }, 'cancelled'),
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_late_outcome',
    accepts: [
      { late_outcome_status: null, late_outcome_at: null },
      { late_outcome_status: 'submitted', late_outcome_at: at },
      { late_outcome_status: 'failed', late_outcome_at: at },
    ],
    refuses: [
      { late_outcome_status: 'submitted', late_outcome_at: null },
      { late_outcome_status: null, late_outcome_at: at },
      { late_outcome_status: 'cancelled', late_outcome_at: at },
    ],
  },
  {
    table: 'submissions',
    check: 'submissions_purged_when_ended',
    accepts: [
      { payload_sealed: '\\x01', finished_at: null },
      { payload_sealed: null, finished_at: at },
    ],
    refuses: [{ payload_sealed: null, finished_at: null }],
  },
  {
    table: 'deliveries',
    check: 'deliveries_status',
    accepts: ['pending', 'delivered', 'exhausted', 'dropped', 'queued', 'waiting'].map(
      (status) => ({
        status,
      }),
    ),
    refuses: [{ status: 'lost' }],
  },
  {
    table: 'deliveries',
    check: 'deliveries_attempts',
    accepts: [
      { attempt_count: 0, round: 1 },
      { attempt_count: 8, round: 1 },
    ],
    refuses: [
      { attempt_count: -1, round: 1 },
      { attempt_count: 9, round: 1 },
      { attempt_count: 0, round: 0 },
    ],
  },
  {
    table: 'deliveries',
    check: 'deliveries_due_while_pending',
    accepts: [
      { status: 'pending', next_attempt_at: at },
      { status: 'queued', next_attempt_at: at },
      { status: 'waiting', next_attempt_at: null },
      { status: 'delivered', next_attempt_at: null },
    ],
    refuses: [
      { status: 'queued', next_attempt_at: null },
      { status: 'waiting', next_attempt_at: at },
      { status: 'pending', next_attempt_at: null },
      { status: 'delivered', next_attempt_at: at },
    ],
  },
  {
    table: 'deliveries',
    check: 'deliveries_target',
    accepts: [
      { status: 'pending', target_id: null, endpoint_id: null, position: null },
      { status: 'queued', target_id: id, endpoint_id: null, position: null },
      { status: 'waiting', target_id: id, endpoint_id: id, position: 1 },
      { status: 'dropped', target_id: null, endpoint_id: null, position: null },
    ],
    refuses: [
      { status: 'pending', target_id: id, endpoint_id: null, position: null },
      { status: 'queued', target_id: null, endpoint_id: null, position: null },
      { status: 'waiting', target_id: id, endpoint_id: id, position: null },
      { status: 'waiting', target_id: null, endpoint_id: null, position: 1 },
      { status: 'dropped', target_id: null, endpoint_id: id, position: null },
    ],
  },
  {
    table: 'tenants',
    check: 'tenants_webhook_endpoint_count',
    accepts: [{ webhook_endpoint_count: 0 }, { webhook_endpoint_count: 5 }],
    refuses: [{ webhook_endpoint_count: -1 }, { webhook_endpoint_count: 6 }],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_kind',
    accepts: [
      { kind: 'push', url: 'https://x.example' },
      { kind: 'poll', url: null },
    ],
    refuses: [
      { kind: 'push', url: null },
      { kind: 'poll', url: 'https://x.example' },
      { kind: 'pull', url: null },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_texts',
    accepts: [
      { url: 'u', description: 'd', events: null },
      { url: 'u'.repeat(2048), description: 'd'.repeat(256), events: '{webhook.test}' },
    ],
    refuses: [
      { url: '', description: 'd', events: null },
      { url: 'u'.repeat(2049), description: 'd', events: null },
      { url: 'u', description: 'd'.repeat(257), events: null },
      { url: 'u', description: 'd', events: '{}' },
      { url: 'u', description: 'd', events: '{NULL}' },
      { url: 'u', description: 'd', events: `{${Array.from({ length: 51 }, () => 'x').join()}}` },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_secrets',
    accepts: [
      { secret_version: 1, previous_secret_sealed: null, previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: '\\x01', previous_secret_expires_at: at },
    ],
    refuses: [
      { secret_version: 0, previous_secret_sealed: null, previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: '\\x01', previous_secret_expires_at: null },
      { secret_version: 2, previous_secret_sealed: null, previous_secret_expires_at: at },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_disabled',
    accepts: [
      { disabled_at: null, disabled_reason: null },
      { disabled_at: at, disabled_reason: 'gone' },
    ],
    refuses: [
      { disabled_at: at, disabled_reason: null },
      { disabled_at: null, disabled_reason: 'gone' },
    ],
  },
  {
    table: 'webhook_endpoints',
    check: 'webhook_endpoints_position',
    accepts: [{ last_position: 0 }],
    refuses: [{ last_position: -1 }],
  },
  {
    table: 'delivery_attempts',
    check: 'delivery_attempts_number',
    accepts: [
      { number: 1, round: 1 },
      { number: 8, round: 1 },
    ],
    refuses: [
      { number: 0, round: 1 },
      { number: 9, round: 1 },
      { number: 1, round: 0 },
    ],
  },
  {
    table: 'trace_contexts',
    check: 'trace_contexts_ids',
    accepts: [{ trace_id: 'a'.repeat(32), span_id: '0'.repeat(16) }],
    refuses: [
      { trace_id: 'A'.repeat(32) },
      { trace_id: 'a'.repeat(31) },
      { span_id: 'g'.repeat(16) },
      { span_id: '' },
    ],
  },
  {
    table: 'trace_contexts',
    check: 'trace_contexts_tracestate',
    accepts: [{ tracestate: null }, { tracestate: 'v'.repeat(512) }],
    refuses: [{ tracestate: '' }, { tracestate: 'v'.repeat(513) }],
  },
  {
    table: 'surge_pin',
    check: 'surge_pin_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
  {
    table: 'surge_pin',
    check: 'surge_pin_range',
    accepts: [{ pinned_micros: 1_000_000 }, { pinned_micros: 3_000_000 }],
    refuses: [{ pinned_micros: 999_999 }, { pinned_micros: 3_000_001 }],
  },
  {
    table: 'nodes',
    check: 'nodes_previous_secret',
    accepts: [
      { previous_secret_sealed: null, previous_secret_expires_at: null },
      { previous_secret_sealed: '\\x01', previous_secret_expires_at: at },
    ],
    refuses: [
      { previous_secret_sealed: '\\x01', previous_secret_expires_at: null },
      { previous_secret_sealed: null, previous_secret_expires_at: at },
    ],
  },
  {
    table: 'webhook_caps',
    check: 'webhook_caps_figures',
    accepts: [{ attempts_per_hour: 1, attempts: 0 }],
    refuses: [
      { attempts_per_hour: 0, attempts: 0 },
      { attempts_per_hour: 1, attempts: -1 },
    ],
  },
  {
    table: 'audit_log',
    check: 'audit_log_actor',
    accepts: [
      { actor_kind: 'operator', actor_id: id, actor_name: null },
      { actor_kind: 'tenant', actor_id: id, actor_name: null },
      { actor_kind: 'tenant', actor_id: id, actor_name: 'key_1' },
      { actor_kind: 'local', actor_id: null, actor_name: 'root' },
      { actor_kind: 'signup', actor_id: null, actor_name: null },
    ],
    refuses: [
      { actor_kind: 'root', actor_id: null, actor_name: null },
      { actor_kind: 'operator', actor_id: null, actor_name: null },
      { actor_kind: 'operator', actor_id: id, actor_name: 'root' },
      { actor_kind: 'signup', actor_id: id, actor_name: null },
      { actor_kind: 'local', actor_id: null, actor_name: null },
      { actor_kind: 'signup', actor_id: null, actor_name: 'root' },
    ],
  },
  {
    table: 'ledger_audit',
    check: 'ledger_audit_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
  {
    table: 'ledger_audit',
    check: 'ledger_audit_error',
    accepts: [
      { failed_at: null, error: null },
      { failed_at: at, error: 'timeout' },
    ],
    refuses: [
      { failed_at: at, error: null },
      { failed_at: null, error: 'timeout' },
    ],
  },
  {
    table: 'ledger_verdict',
    check: 'ledger_verdict_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.close());

async function conditionOf({ table, check, isUnvalidated = false }: CheckCase): Promise<string> {
  const [found] = await database.query<{ condition: string }>(
    `SELECT pg_get_expr(conbin, conrelid) AS condition FROM pg_constraint
     WHERE conrelid = $1::regclass AND conname = $2 AND contype = 'c' AND (convalidated OR $3)`,
    [table, check, isUnvalidated],
  );
  if (found === undefined) throw new Error(`${table} has no CHECK ${check}`);
  return found.condition;
}

test.each(cases)('$check accepts valid rows and refuses each violation', async (one) => {
  const condition = await conditionOf(one);
  const rows = [...one.accepts, ...one.refuses];
  // A CHECK whose condition is NULL accepts the row.
  const answers = await database.query<{ passes: boolean }>(
    `SELECT coalesce(checked.passes, true) AS passes
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS given (row, number),
       LATERAL (SELECT ${condition} AS passes
         FROM jsonb_populate_record(NULL::${one.table}, given.row) AS ${one.table}) AS checked
     ORDER BY given.number`,
    [JSON.stringify(rows)],
  );
  const passed = rows.filter((_, index) => answers[index]?.passes);
  expect(passed).toStrictEqual(one.accepts);
});
