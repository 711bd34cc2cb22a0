import { createCounter, createDurations, createGauge, createMetrics } from '@svc/runtime';

export function createSettlementMetrics() {
  const registry = createMetrics('settlement');
  const timeSettlement = createDurations(registry, 'svc_settlement_lag_seconds');
  return {
    registry,
    timeSettlement: (lagMs: number) => timeSettlement({}, lagMs / 1000),
    countSettled: createCounter(registry, 'svc_submissions_settled_total'),
    countUsageCapped: createCounter(registry, 'svc_submissions_usage_capped_total'),
    countReconciled: createCounter(registry, 'svc_submissions_reconciled_total'),
    countPurged: createCounter(registry, 'svc_submissions_purged_total').bind(undefined, 'age'),
    setDeadLetters: createGauge(registry, 'svc_dead_letters'),
    setLedgerFaults: createGauge(registry, 'svc_ledger_faults'),
    setLedgerAuditedAt: createGauge(registry, 'svc_ledger_audited_timestamp_seconds'),
    setLedgerFullAuditedAt: createGauge(registry, 'svc_ledger_full_audited_timestamp_seconds'),
    setLedgerFullAuditRatio: createGauge(registry, 'svc_ledger_full_audit_ratio'),
    setLedgerAuditFailed: createGauge(registry, 'svc_ledger_audit_failed'),
    setPartitionsMissing: createGauge(registry, 'svc_partitions_missing'),
    setPartitionsOverdue: createGauge(registry, 'svc_partitions_overdue'),
    countEventsDeleted: createCounter(registry, 'svc_events_deleted_total').bind(undefined, 'age'),
    setAuditFaults: createGauge(registry, 'svc_audit_faults'),
  };
}
