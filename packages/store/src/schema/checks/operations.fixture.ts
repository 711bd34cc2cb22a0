import { at, id, type CheckCase } from './check-case.fixture.ts';

export const operationChecks: readonly CheckCase[] = [
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
    table: 'nodes',
    check: 'nodes_slots_max',
    accepts: [{ slots_max: 1 }, { slots_max: 200 }],
    refuses: [{ slots_max: 0 }, { slots_max: 201 }],
  },
  {
    table: 'nodes',
    check: 'nodes_endings',
    accepts: [{ unfinished_count: 0, error_count: 0, quarantine_count: 0 }],
    refuses: [
      { unfinished_count: -1, error_count: 0, quarantine_count: 0 },
      { unfinished_count: 0, error_count: -1, quarantine_count: 0 },
      { unfinished_count: 0, error_count: 0, quarantine_count: -1 },
    ],
  },
  {
    table: 'nodes',
    check: 'nodes_quarantine',
    accepts: [
      { quarantined_until: null, quarantine_reason: null },
      { quarantined_until: at, quarantine_reason: 'unfinished' },
      { quarantined_until: at, quarantine_reason: 'node_error' },
    ],
    refuses: [
      { quarantined_until: at, quarantine_reason: null },
      { quarantined_until: null, quarantine_reason: 'unfinished' },
      { quarantined_until: at, quarantine_reason: 'slow' },
    ],
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
    table: 'reconcile_failures',
    check: 'reconcile_failures_reconciler',
    accepts: [{ reconciler: 'settlement' }, { reconciler: 'webhook' }, { reconciler: 'purge' }],
    refuses: [{ reconciler: 'dispatch' }],
  },
  {
    table: 'reconcile_failures',
    check: 'reconcile_failures_figures',
    accepts: [{ failures: 1, error: 'e'.repeat(500) }],
    refuses: [
      { failures: 0, error: 'e' },
      { failures: 1, error: 'e'.repeat(501) },
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
    table: 'audit_head',
    check: 'audit_head_one_row',
    accepts: [{ id: 1 }],
    refuses: [{ id: 2 }],
  },
];
