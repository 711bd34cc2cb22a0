import { submissionStates } from '@svc/domain';
import { at, id, type CheckCase, type Row } from './check-case.fixture.ts';

const states = [...submissionStates];

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

export const submissionChecks: readonly CheckCase[] = [
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
    table: 'submissions',
    check: 'submissions_begun_instance',
    isUnvalidated: true,
    accepts: [
      { begun_instance: null, started_at: null },
      { begun_instance: 'a'.repeat(64), started_at: at },
      { begun_instance: 'A-z_09', started_at: at },
    ],
    refuses: [
      { begun_instance: 'a', started_at: null },
      { begun_instance: '', started_at: at },
      { begun_instance: 'a'.repeat(65), started_at: at },
      { begun_instance: 'a.b', started_at: at },
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
];
