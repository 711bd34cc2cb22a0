import { at, id, type CheckCase } from './check-case.fixture.ts';

const amountBound = 1_000_000_000_000_000;
const account = {
  balance_micros: 0,
  rebate_accrued_micros: 0,
  low_balance_threshold_micros: 0,
};

export const moneyChecks: readonly CheckCase[] = [
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
