import { createCounter, createGauge, createMetrics } from '@svc/runtime';

/** The worker's own figures, beside those of every process. */
export function createSettlementMetrics() {
  const registry = createMetrics('settlement');
  return {
    registry,
    countSettled: createCounter(registry, {
      name: 'svc_submissions_settled_total',
      help: 'Submissions settled, by the state they ended in',
      label: 'state',
    }),
    countUsageCapped: createCounter(registry, {
      name: 'svc_submissions_usage_capped_total',
      help: 'Submissions whose node reported more usage than the elapsed time allows, by the state they ended in',
      label: 'state',
    }),
    countMended: createCounter(registry, {
      name: 'svc_submissions_mended_total',
      help: 'Submissions that the reconciler brought on, by what was wrong',
      label: 'kind',
    }),
    countPurged: createCounter(registry, {
      name: 'svc_submissions_purged_total',
      help: 'Submissions whose personal data was deleted, by why',
      label: 'cause',
    }).bind(undefined, 'age'),
    setDeadLetters: createGauge(registry, {
      name: 'svc_dead_letters',
      help: 'Submissions that could not be reconciled or purged five times or more: alert on any',
    }),
    setLedgerFaults: createGauge(registry, {
      name: 'svc_ledger_faults',
      help: 'Faults that the last audit of the ledger found, NaN if it failed: alert on any',
    }),
    setLedgerAuditedAt: createGauge(registry, {
      name: 'svc_ledger_audited_timestamp_seconds',
      help: 'When the last audit of the ledger ended, Unix time, 0 if none has: alert if older than 30 minutes',
    }),
    setPartitionsMissing: createGauge(registry, {
      name: 'svc_partitions_missing',
      help: 'Partitions that could not be made ahead, NaN if the last look failed: alert on any',
    }),
    setAuditFaults: createGauge(registry, {
      name: 'svc_audit_faults',
      help: 'Faults that the last look at the chain of the audit log found: alert on any',
    }),
  };
}
