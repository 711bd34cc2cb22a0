import { createCounter, createGauge, createMetrics } from '@svc/runtime';

/** The worker's own metrics, in addition to those of every process. */
export function createSettlementMetrics() {
  const registry = createMetrics('settlement');
  return {
    registry,
    countSettled: createCounter(registry, {
      name: 'svc_submissions_settled_total',
      help: 'Submissions that were settled, by their final state',
      label: 'state',
    }),
    countUsageCapped: createCounter(registry, {
      name: 'svc_submissions_usage_capped_total',
      help: 'Submissions whose node reported more usage than the elapsed time allows, by their final state',
      label: 'state',
    }),
    countReconciled: createCounter(registry, {
      name: 'svc_submissions_reconciled_total',
      help: 'Submissions that the reconciler repaired, by the kind of fault',
      label: 'kind',
    }),
    countPurged: createCounter(registry, {
      name: 'svc_submissions_purged_total',
      help: 'Submissions whose personal data was deleted, by cause',
      label: 'cause',
    }).bind(undefined, 'age'),
    setDeadLetters: createGauge(registry, {
      name: 'svc_dead_letters',
      help: 'Submissions that failed five times or more to be reconciled or purged: alert on any',
    }),
    setLedgerFaults: createGauge(registry, {
      name: 'svc_ledger_faults',
      help: 'Known faults of the ledger, NaN if none is known and the last audit failed: alert on any',
    }),
    setLedgerAuditedAt: createGauge(registry, {
      name: 'svc_ledger_audited_timestamp_seconds',
      help: 'Unix time of the end of the last audit of the ledger, 0 if there was none: alert if older than 15 minutes',
    }),
    setLedgerFullAuditedAt: createGauge(registry, {
      name: 'svc_ledger_full_audited_timestamp_seconds',
      help: 'Unix time of the end of the last pass over the whole ledger, 0 if there was none: alert if older than 36 hours',
    }),
    setLedgerFullAuditRatio: createGauge(registry, {
      name: 'svc_ledger_full_audit_ratio',
      help: 'The part of the ledger that the current pass over the whole ledger has read, from 0 to 1',
    }),
    setLedgerAuditFailed: createGauge(registry, {
      name: 'svc_ledger_audit_failed',
      help: '1 if the last audit of the ledger failed, 0 otherwise: alert on 1',
    }),
    setPartitionsMissing: createGauge(registry, {
      name: 'svc_partitions_missing',
      help: 'Partitions that could not be created ahead, NaN if the last check failed: alert on any',
    }),
    setPartitionsOverdue: createGauge(registry, {
      name: 'svc_partitions_overdue',
      help: 'Partitions older than the retention that could not be dropped, NaN if the last round failed: alert if above 0 for a day',
    }),
    countEventsDeleted: createCounter(registry, {
      name: 'svc_events_deleted_total',
      help: 'Events that were deleted, by cause',
      label: 'cause',
    }).bind(undefined, 'age'),
    setAuditFaults: createGauge(registry, {
      name: 'svc_audit_faults',
      help: 'Faults that the last check of the audit log chain found: alert on any',
    }),
  };
}
