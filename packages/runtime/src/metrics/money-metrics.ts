import type { MetricDefinition } from './definition.ts';

const own = { services: ['settlement'], scope: 'process' } as const;
const shared = { services: ['settlement'], scope: 'shared' } as const;
const rail = { ...shared, onlyIf: 'the Solana rail is on' } as const;

export const moneyMetrics = {
  svc_submissions_settled_total: {
    ...own,
    type: 'counter',
    labels: { state: 'the final state' },
    help: 'Submissions that this service settled',
  },
  svc_settlement_lag_seconds: {
    ...own,
    type: 'histogram',
    labels: {},
    help: 'Time from the stored outcome of a submission to its settlement',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  svc_submissions_usage_capped_total: {
    ...own,
    type: 'counter',
    labels: { state: 'the final state' },
    help: 'Settled submissions whose node reported usage above a cap',
  },
  svc_submissions_reconciled_total: {
    ...own,
    type: 'counter',
    labels: { kind: 'why the submission was overdue' },
    help: 'Overdue submissions that the reconciler handled',
  },
  svc_submissions_purged_total: {
    ...own,
    type: 'counter',
    labels: { cause: '`age`' },
    help: 'Submissions whose personal data was deleted because of its age',
  },
  svc_dead_letters: {
    type: 'gauge',
    services: ['settlement', 'webhooks'],
    scope: 'shared',
    labels: {},
    help: 'Submissions and deliveries that a reconciler tried 5 or more times without success: alert above 0',
  },
  svc_ledger_faults: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Faults that the ledger audit has found; NaN if unknown: alert above 0',
  },
  svc_ledger_audited_timestamp_seconds: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Unix time of the end of the last audit of the newest ledger entries, 0 if there was none: alert if older than 15 minutes',
  },
  svc_ledger_full_audited_timestamp_seconds: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Unix time of the end of the last pass over the whole ledger, 0 if there was none: alert if older than 36 hours',
  },
  svc_ledger_full_audit_ratio: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'The part of the ledger that the current pass over the whole ledger has read, from 0 to 1',
  },
  svc_ledger_audit_failed: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: '1 if the last audit of the ledger failed or its result cannot be read, 0 otherwise: alert on 1',
  },
  svc_partitions_missing: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Missing partitions of the months from last month to three months ahead, NaN if unknown: alert if above 0 for a day',
  },
  svc_partitions_overdue: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Partitions older than the retention that could not be dropped, NaN if unknown: alert if above 0 for a day',
  },
  svc_events_deleted_total: {
    ...own,
    type: 'counter',
    labels: { cause: '`age`' },
    help: 'Events that were deleted',
  },
  svc_audit_faults: {
    ...shared,
    type: 'gauge',
    labels: {},
    help: 'Faults that the last check of the audit log chain found: alert above 0',
  },
  svc_solana_rpc_calls_total: {
    ...own,
    type: 'counter',
    labels: { outcome: '`answered`, `busy`, `failed`, `refused`' },
    help: 'Calls to the Solana RPC server',
    onlyIf: rail.onlyIf,
  },
  svc_solana_payments_total: {
    ...own,
    type: 'counter',
    labels: { kind: '`granted`, `added`, `unexplained`, `balance_too_large`, `unread`' },
    help: 'New payments found on Solana, and failed attempts to read a transaction',
    onlyIf: rail.onlyIf,
  },
  svc_solana_lag_seconds: {
    ...rail,
    type: 'gauge',
    labels: {},
    help: 'Seconds since the watcher began its last complete reading of a token account; the largest of all accounts with open intents. For an account without a complete reading: since the creation of its cursor, or of the intent if there is no cursor. 0 if no intent is open. Alert above 60',
  },
  svc_solana_unexplained_payments: {
    ...rail,
    type: 'gauge',
    labels: {},
    help: 'Unexplained payments, counted up to 1000: alert above 0',
  },
  svc_solana_unread_signatures: {
    ...rail,
    type: 'gauge',
    labels: {},
    help: 'Solana transactions whose reading failed and is repeated: alert if the number stays above 0',
  },
  svc_solana_open_intents: {
    ...rail,
    type: 'gauge',
    labels: {},
    help: 'Purchase intents that a payment may still complete',
  },
} as const satisfies Record<string, MetricDefinition>;
