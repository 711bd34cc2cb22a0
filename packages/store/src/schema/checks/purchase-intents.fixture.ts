import { at, type CheckCase } from './check-case.fixture.ts';

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

export const purchaseIntentChecks: readonly CheckCase[] = [
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
];
