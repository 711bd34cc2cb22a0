export interface AlertCase {
  /**
   * The values of each series: first those that make the alert fire, then those of a quiet service.
   */
  readonly series: Readonly<Record<string, readonly [firing: string, quiet: string]>>;
  /** The duration of the simulation in hours. The default is 25 minutes. */
  readonly hours?: number;
}

const created = 'route="/v1/submissions",method="POST"';
const requests = 'svc_gateway_request_duration_seconds';

const unavailable: AlertCase = {
  series: {
    [`${requests}_count{instance="g",${created},status="503"}`]: ['0+5', '0'],
    [`${requests}_count{instance="g",${created},status="201"}`]: ['0+95', '0+100'],
  },
};
const slow: AlertCase = {
  series: {
    [`${requests}_count{instance="g",${created},status="201"}`]: ['0+100', '0+100'],
    [`${requests}_bucket{instance="g",${created},status="201",le="2.5"}`]: ['0+80', '0+100'],
  },
};
const lateSettlement: AlertCase = {
  series: {
    'svc_settlement_lag_seconds_count{}': ['0+100', '0+100'],
    'svc_settlement_lag_seconds_bucket{le="5"}': ['0+80', '0+100'],
  },
};
const lateDelivery: AlertCase = {
  series: {
    'svc_webhook_first_attempt_lag_seconds_count{}': ['0+100', '0+100'],
    'svc_webhook_first_attempt_lag_seconds_bucket{le="10"}': ['0+80', '0+100'],
  },
};

/**
 * A case for an alert that fires if settlement has not audited the ledger since its own start. In
 * the quiet values, the first audit comes four steps after the start.
 */
function newDeployment(series: string, stepSeconds: number, hours?: number): AlertCase {
  const audited = `_x15 0+0x3 ${19 * stepSeconds}+${stepSeconds}`;
  return {
    series: {
      [series]: ['0', audited],
      'process_start_time_seconds{job="svc-settlement"}': ['1', `_x15 ${15 * stepSeconds}+0`],
    },
    ...(hours === undefined ? {} : { hours }),
  };
}

function gauge(series: string, firing: number, quiet: number, hours?: number): AlertCase {
  return {
    series: { [series]: [`${firing}`, `${quiet}`] },
    ...(hours === undefined ? {} : { hours }),
  };
}

function timestamp(series: string, stepSeconds: number, hours?: number): AlertCase {
  return {
    series: { [series]: ['1', `1+${stepSeconds}`] },
    ...(hours === undefined ? {} : { hours }),
  };
}

function failingShare(failed: string, succeeded: string): AlertCase {
  return { series: { [failed]: ['0+8', '0+1'], [succeeded]: ['0+2', '0+9'] } };
}

export const alertCases: Readonly<Record<string, AlertCase | readonly AlertCase[]>> = {
  SvcProcessDown: gauge('up{job="svc-gateway",instance="g"}', 0, 1),
  SvcFiguresStale: timestamp('svc_figures_read_timestamp_seconds{source="redis"}', 60),
  SvcEventLoopSlow: gauge('nodejs_eventloop_lag_p99_seconds{job="svc-gateway"}', 0.8, 0.02),
  SvcPoolExhausted: {
    series: {
      'svc_pool_waiting{instance="g",service="gateway"}': ['3', '3'],
      'svc_pool_connections{instance="g",service="gateway",state="idle"}': ['0', '1'],
    },
  },
  SvcCreationAvailabilityFast: unavailable,
  SvcCreationAvailabilitySlow: unavailable,
  SvcCreationLatencyFast: slow,
  SvcCreationLatencySlow: slow,
  SvcSettlementLagFast: lateSettlement,
  SvcSettlementLagSlow: lateSettlement,
  SvcSettlementStuck: gauge('svc_submissions_oldest_age_seconds{state="settling"}', 300, 2),
  SvcFirstDeliveryFast: lateDelivery,
  SvcFirstDeliverySlow: lateDelivery,
  SvcDeliveryBacklog: gauge('svc_deliveries_oldest_due_age_seconds', 900, 2),
  SvcBreakersOpen: gauge('svc_webhook_breakers_open', 2, 0),
  SvcWebhookAttemptsFail: {
    ...failingShare(
      'svc_webhook_attempts_total{verdict="retry"}',
      'svc_webhook_attempts_total{verdict="delivered"}',
    ),
    hours: 1,
  },
  SvcNoCapacity: gauge('svc_fleet_slots{state="free"}', 0, 4),
  SvcNoNodes: gauge('svc_dispatcher_links{instance="d"}', 0, 2),
  SvcNodesQuarantined: gauge('svc_fleet_nodes{state="quarantined"}', 1, 0),
  SvcBadFrames: {
    series: {
      'svc_dispatcher_bad_frames_total{code="unhandled_frame"}': ['0+1', '1'],
      'svc_dispatcher_bad_frames_total{code="malformed_frame"}': ['0+1', '0+1'],
    },
  },
  SvcQueueOld: gauge('svc_queue_oldest_age_seconds{queue="dispatch"}', 60, 1),
  SvcQueueFailed: gauge('svc_queue_jobs{queue="dispatch",state="failed"}', 2, 0),
  SvcQueuePaused: gauge('svc_queue_paused{queue="dispatch"}', 1, 0),
  SvcDeadLetters: gauge('svc_dead_letters{service="settlement"}', 1, 0),
  SvcLedgerFaults: gauge('svc_ledger_faults', 1, 0),
  SvcLedgerAuditLate: [
    timestamp('svc_ledger_audited_timestamp_seconds', 60),
    newDeployment('svc_ledger_audited_timestamp_seconds', 60),
  ],
  SvcLedgerAuditFailed: gauge('svc_ledger_audit_failed', 1, 0),
  SvcLedgerFullAuditLate: [
    timestamp('svc_ledger_full_audited_timestamp_seconds', 1_800, 38),
    newDeployment('svc_ledger_full_audited_timestamp_seconds', 1_800, 38),
  ],
  SvcAuditLogFaults: gauge('svc_audit_faults', 1, 0),
  SvcKeyTampered: { series: { 'svc_gateway_tampered_keys_total{instance="g"}': ['0+1', '1'] } },
  SvcPartitionsMissing: gauge('svc_partitions_missing', 1, 0, 26),
  SvcPartitionsOverdue: gauge('svc_partitions_overdue', 1, 0, 26),
  SvcSolanaLag: gauge('svc_solana_lag_seconds', 120, 5),
  SvcSolanaUnexplained: gauge('svc_solana_unexplained_payments', 1, 0),
  SvcSolanaUnread: gauge('svc_solana_unread_signatures', 1, 0),
  SvcSolanaRpcFails: failingShare(
    'svc_solana_rpc_calls_total{outcome="failed"}',
    'svc_solana_rpc_calls_total{outcome="done"}',
  ),
};
